import { editDistance, nearestWords } from '../../../../util/nearest.ts';
import { type Allowed, type Issue, textMeant } from '../../../config/check-file.ts';
import type { PlaceOfKey } from '../../../config/places-of-keys.ts';
import type { KeyPath, YamlFile } from '../../../config/yaml-file.ts';

/** An unambiguous change that fixes a problem, with the rule that it satisfies. */
export type Fix = { rule: string } & (
  | { kind: 'key'; path: KeyPath; key: string; to: string }
  /** `text` is YAML on one line. */
  | { kind: 'value'; path: KeyPath; text: string }
  /** A top-level key, inserted after the key `after` if that exists. */
  | { kind: 'add'; line: string; after?: string }
  /** A key of the map at `path`, inserted after its key `after`. */
  | { kind: 'add-beside'; path: KeyPath; after: string; text: string }
  /** A key on lines of its own beside others. */
  | { kind: 'remove'; path: KeyPath }
  | { kind: 'first-line'; line: string }
);

/** The fixes for a schema issue; empty when the fix is ambiguous. */
export function fixesOfIssue(
  issue: Issue,
  { yaml, value, allowed }: { yaml: YamlFile; value: unknown; allowed: Allowed },
): Fix[] {
  const path = issue.path as KeyPath;
  if (issue.code === 'unrecognized_keys')
    return issue.keys.flatMap((key) => renamingOf(value, path, key, allowed) ?? []);
  if (issue.code !== 'invalid_type') return [];
  const text = retyped(issue, yaml.sourceOf(path), allowed);
  return text === undefined ? [] : [{ kind: 'value', rule: 'type', path, text }];
}

/** Renames an unknown key when exactly one key that the file could mean is nearest, is known at this place, and is not in use. */
function renamingOf(value: unknown, path: KeyPath, key: string, allowed: Allowed): Fix | undefined {
  const holder = at(value, path);
  if (typeof holder !== 'object' || holder === null) return undefined;
  const known = allowed.keys;
  const [to, second] = nearestWords(key, known, 2);
  if (to === undefined || Object.hasOwn(holder, to)) return undefined;
  const distance = editDistance(key, to);
  if (second !== undefined && editDistance(key, second) <= distance) return undefined;
  // The key of another place would get another meaning: `commands` of the permissions is not `command`.
  const isOther = (other: PlaceOfKey) =>
    other.key === key ||
    (editDistance(key, other.key) <= distance && other.accepts((holder as Record<string, unknown>)[key]));
  if (allowed.elsewhere().some(isOther)) return undefined;
  // Two misspellings of one key cannot both be renamed to it.
  const rivals = Object.keys(holder).filter(
    (other) => !known.includes(other) && nearestWords(other, known, 1)[0] === to,
  );
  return rivals.length > 1 ? undefined : { kind: 'key', rule: 'unknown-key', path, key, to };
}

/** Converts a value of the wrong type to YAML of the right type, when that is unambiguous. */
function retyped(
  issue: Extract<Issue, { code: 'invalid_type' }>,
  source: string | undefined,
  allowed: Allowed,
): string | undefined {
  const { expected, input } = issue;
  // A value from a variable is not in the file.
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
    case 'string': {
      const meant = textMeant(issue, source, allowed);
      return meant === undefined ? undefined : JSON.stringify(meant);
    }
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
