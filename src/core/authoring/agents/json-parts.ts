import { isDeepStrictEqual } from 'node:util';
import { jsonValueAt, readJsonObject, setInJson } from './edit-json.ts';
import type { Part } from './part.ts';

/** One value in a JSON settings file. */
export function jsonMember(path: readonly string[], value: unknown): Part {
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
