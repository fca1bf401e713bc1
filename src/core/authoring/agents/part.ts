import { isDeepStrictEqual } from 'node:util';
import { findBlock, type Marks, REMOVE_MARKS, withBlock, withoutBlock } from '../scaffold/marked-block.ts';
import { containersIn, jsonValueAt, readJsonObject, removeFromJson, setInJson } from './edit-json.ts';

/**
 * What ACOR writes into one agent file: the whole file, a block of lines, or one value. The rest of the file belongs to
 * the user.
 */
export interface Part {
  /** Its name in the file and in the record. */
  key: string;
  /** The wanted text. */
  wanted: string;
  /**
   * The present text in the same notation; null when the file lacks the part, undefined when the file cannot be parsed.
   */
  found(text: string): string | null | undefined;
  /** The file's text with the wanted part; undefined when ACOR cannot insert it. */
  put(text: string): string | undefined;
  /** What of a file that lacks the part would hold it, by name; the file itself has an empty one. */
  holders(text: string): string[];
  /** The file's text without the part and its holders that are then empty, but those that `stood` before ACOR wrote; undefined when ACOR cannot take it out. */
  cut(text: string, stood: readonly string[]): string | undefined;
  /** Whether the present text, which ACOR did not write, is another owner's under the same name. */
  isForeign?(found: string): boolean;
  /** What a person must insert when ACOR cannot. */
  byHand: string;
}

/** A file that belongs to ACOR as a whole. */
export function wholeFile(text: string): Part {
  return {
    key: 'file',
    wanted: text,
    found: withoutReturns,
    put: () => text,
    holders: () => [],
    cut: () => '',
    isForeign: () => true,
    byHand: 'Move it away, then run it again.',
  };
}

/** The lines between two marks. A file that already matches `rival` outside of the marks stays unchanged. */
export function blockOfLines(lines: string, marks: Marks, rival?: RegExp): Part {
  const wanted = `${lines.trimEnd()}\n`;
  const hasRival = (text: string) => {
    const block = findBlock(text, marks);
    const place = typeof block === 'object' ? block : { start: 0, end: 0 };
    return rival?.test(text.slice(0, place.start) + text.slice(place.end)) === true;
  };
  return {
    key: 'block',
    wanted,
    found(text) {
      const block = findBlock(text, marks);
      if (block === 'torn' || hasRival(text)) return undefined;
      return block === undefined ? null : withoutReturns(block.lines);
    },
    put: (text) => (hasRival(text) ? undefined : withBlock(text, lines, marks)),
    holders: () => [''],
    cut: (text) => withoutBlock(text, marks),
    byHand: `${rival === undefined ? REMOVE_MARKS : 'Remove your own lines of the same name, or write these in their place:'}\n${wanted.trimEnd()}`,
  };
}

/** A checkout on Windows may have CRLF line ends. */
function withoutReturns(text: string): string {
  return text.replaceAll('\r\n', '\n');
}

/** One value in a JSON settings file. */
export function jsonMember(
  path: readonly string[],
  value: unknown,
  isForeign?: (found: unknown) => boolean,
): Part {
  return {
    key: path.join('.'),
    wanted: JSON.stringify(value),
    found(text) {
      const root = readJsonObject(text);
      if (root === undefined || setInJson(text, path, value) === undefined) return undefined;
      const found = jsonValueAt(root, path);
      return found === undefined ? null : spelled(found, value);
    },
    put: (text) => setInJson(text, path, value),
    holders: (text) => containersIn(text, path),
    cut: (text, stood) => removeFromJson(text, path, stood),
    ...(isForeign !== undefined && { isForeign: (found: string) => isForeign(JSON.parse(found)) }),
    byHand: byHand(path, value),
  };
}

/** A group of hooks in an agent's settings: the list element that runs this command. */
export function hookGroup(event: string, command: string, group: object): Part {
  const path = ['hooks', event];
  const groupsIn = (text: string): unknown[] => {
    const root = readJsonObject(text);
    const groups = root && jsonValueAt(root, path);
    return Array.isArray(groups) ? groups : [];
  };
  const indexIn = (groups: unknown[]): number => {
    const index = groups.findIndex((each) => commandsOf(each).includes(command));
    return index === -1 ? groups.length : index;
  };
  const put = (text: string) => setInJson(text, [...path, indexIn(groupsIn(text))], group);
  return {
    key: path.join('.'),
    wanted: JSON.stringify(group),
    found(text) {
      if (put(text) === undefined) return undefined;
      const groups = groupsIn(text);
      const found = groups[indexIn(groups)];
      return found === undefined ? null : spelled(found, group);
    },
    put,
    holders: (text) => containersIn(text, [...path, '']),
    cut: (text, stood) => removeFromJson(text, [...path, indexIn(groupsIn(text))], stood),
    byHand: byHand(path, [group]),
  };
}

/** The order of keys does not matter. */
function spelled(found: unknown, wanted: unknown): string {
  return JSON.stringify(isDeepStrictEqual(found, wanted) ? wanted : found);
}

function commandsOf(group: unknown): unknown[] {
  const hooks = (group as { hooks?: unknown } | null)?.hooks;
  return Array.isArray(hooks) ? hooks.map((hook) => hook?.command) : [];
}

function byHand(path: readonly string[], value: unknown): string {
  const whole = path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
  return `Add to it: ${JSON.stringify(whole)}`;
}
