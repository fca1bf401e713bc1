import { isDeepStrictEqual } from 'node:util';
import { nodeAt, setInJson, setItemInJson } from '../../../util/edit-json.ts';
import { jsonValueOf, readJsonSource } from '../../../util/json-source.ts';
import type { Part } from './part.ts';

/** One value in a JSON file of settings. */
export function jsonMember(path: readonly string[], value: unknown): Part {
  return {
    key: path.join('.'),
    wanted: JSON.stringify(value),
    found(text) {
      const root = objectIn(text);
      if (root === undefined || setInJson(text, path, value) === undefined) return undefined;
      const node = nodeAt(root, path);
      return node === undefined ? null : spelled(jsonValueOf(node), value);
    },
    put: (text) => setInJson(text, path, value),
    byHand: byHand(path, value),
  };
}

/** A group of hooks in the settings of an agent: one of a list, known again by the command that it starts. */
export function hookGroup(event: string, command: string, group: object): Part {
  const path = ['hooks', event];
  const indexIn = (text: string): number | undefined => {
    const root = objectIn(text);
    const list = root && nodeAt(root, path);
    const groups = list === undefined ? [] : jsonValueOf(list);
    if (!Array.isArray(groups)) return undefined;
    const index = groups.findIndex((each) => commandsOf(each).includes(command));
    return index === -1 ? undefined : index;
  };
  return {
    key: path.join('.'),
    wanted: JSON.stringify(group),
    found(text) {
      const root = objectIn(text);
      if (root === undefined || setItemInJson(text, path, undefined, group) === undefined) return undefined;
      const index = indexIn(text);
      if (index === undefined) return null;
      const groups = jsonValueOf(nodeAt(root, path)!) as unknown[];
      return spelled(groups[index], group);
    },
    put: (text) => setItemInJson(text, path, indexIn(text), group),
    byHand: byHand(path, [group]),
  };
}

function objectIn(text: string) {
  return readJsonSource(text.trim() === '' ? '{}' : text);
}

/** The order of keys means nothing. */
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
