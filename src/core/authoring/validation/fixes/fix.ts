import { editDistance, nearestWords } from '../../../../util/nearest.ts';
import type { Issue } from '../../../config/check-file.ts';
import type { KeyPath, YamlFile } from '../../../config/yaml-file.ts';

/** A change of a file that puts a mistake right without a doubt, by the rule that it serves. */
export type Fix = { rule: string } & (
  | { kind: 'key'; path: KeyPath; key: string; to: string }
  /** `text` is YAML that fits on one line. */
  | { kind: 'value'; path: KeyPath; text: string }
  /** A key at the top of the file; behind `after`, if that is there. */
  | { kind: 'add'; line: string; after?: string }
  | { kind: 'first-line'; line: string }
);

/** What puts a mistake right; nothing where there is a doubt. */
export function mendsOfIssue(
  issue: Issue,
  { yaml, value, known }: { yaml: YamlFile; value: unknown; known: readonly string[] },
): Fix[] {
  const path = issue.path as KeyPath;
  if (issue.code === 'unrecognized_keys')
    return issue.keys.flatMap((key) => renamingOf(value, path, key, known) ?? []);
  if (issue.code !== 'invalid_type') return [];
  const text = retyped(issue.expected, issue.input, yaml.sourceOf(path));
  return text === undefined ? [] : [{ kind: 'value', rule: 'type', path, text }];
}

/** The new name of an unknown key, when one known key alone is nearest and is not there yet. */
function renamingOf(value: unknown, path: KeyPath, key: string, known: readonly string[]): Fix | undefined {
  const holder = at(value, path);
  if (typeof holder !== 'object' || holder === null) return undefined;
  const [to, second] = nearestWords(key, known, 2);
  if (to === undefined || Object.hasOwn(holder, to)) return undefined;
  if (second !== undefined && editDistance(key, second) <= editDistance(key, to)) return undefined;
  // Two misspellings of one key cannot both become it.
  const rivals = Object.keys(holder).filter(
    (other) => !known.includes(other) && nearestWords(other, known, 1)[0] === to,
  );
  return rivals.length > 1 ? undefined : { kind: 'key', rule: 'unknown-key', path, key, to };
}

/** A value of the wrong type as YAML of the right one, when there is only one way to read it. */
function retyped(expected: string, input: unknown, source: string | undefined): string | undefined {
  // What a variable has put in does not stand in the file.
  if (source?.includes('${')) return undefined;
  switch (expected) {
    case 'number':
    case 'int': {
      if (typeof input !== 'string' || !/^-?\d+(\.\d+)?$/.test(input)) return undefined;
      const number = Number(input);
      return expected === 'int' && !Number.isSafeInteger(number) ? undefined : String(number);
    }
    case 'boolean':
      if (typeof input !== 'string') return undefined;
      return /^(true|yes|on)$/i.test(input) ? 'true' : /^(false|no|off)$/i.test(input) ? 'false' : undefined;
    case 'string':
      return typeof input === 'number' || typeof input === 'boolean'
        ? JSON.stringify(source ?? String(input))
        : undefined;
    case 'array':
      return typeof input === 'string' ? `[${JSON.stringify(input)}]` : undefined;
    default:
      return undefined;
  }
}

function at(value: unknown, path: KeyPath): unknown {
  return path.reduce<unknown>(
    (holder, part) => (holder as Record<string | number, unknown> | null | undefined)?.[part],
    value,
  );
}
