import type * as z from 'zod';
import { nearestWords } from '../../util/nearest.ts';
import { type PlaceOfKey, placesOfKeys } from './places-of-keys.ts';
import type { Problem } from './problem.ts';
import type { KeyPath, YamlFile } from './yaml-file.ts';

/** An issue as the schema reports it. */
export type Issue = z.core.$ZodIssue & { input?: unknown; params?: Record<string, unknown> };

/** What the schema at the place of an issue allows. */
export interface Allowed {
  keys: readonly string[];
  /** The other keys of the file, which are not allowed at this place. */
  elsewhere(): PlaceOfKey[];
  isText(text: string): boolean;
}

/**
 * Validates a file against its schema. Reports every problem at once, with its place, rule and fix. `onIssue` gets each
 * schema issue, and what is allowed at its place. `pathInFile` is where the file has what is checked at another path.
 */
export function checkFile<T>(
  schema: z.ZodType<T>,
  yaml: YamlFile,
  value: unknown = yaml.value,
  onIssue: (issue: Issue, allowed: Allowed) => void = () => {},
  pathInFile: (path: KeyPath) => KeyPath = (path) => path,
): { data?: T; problems: Problem[] } {
  if (yaml.problems.length > 0) return { problems: yaml.problems };
  const schemas = new Map<unknown, z.ZodType>();
  const checked = schema.safeParse(value, {
    reportInput: true,
    // Called for issues without a special message; these are found below, and the schema at the place is only available here.
    error: (issue) => {
      schemas.set(keyOf(issue), issue.inst as z.ZodType);
      return '';
    },
  });
  if (checked.success) return { data: checked.data, problems: [] };
  const problems = (checked.error.issues as Issue[]).flatMap(issuesMeant).flatMap((issue) => {
    const allowed = allowedBy(schemas.get(keyOf(issue)), schema);
    onIssue(issue, allowed);
    const path = [...pathInFile(issue.path as KeyPath)];
    return problemsOf({ ...issue, path }, yaml, allowed);
  });
  return { problems: problems.sort((a, b) => a.line - b.line || a.column - b.column) };
}

/** In an alternative a path is that from the alternative, so that a map with unknown keys is known by itself. */
function keyOf(issue: { code: string; path?: PropertyKey[] | undefined; input?: unknown }): unknown {
  return issue.code === 'unrecognized_keys'
    ? issue.input
    : JSON.stringify([issue.code, ...(issue.path ?? [])]);
}

/** The issues of the only alternative that takes a value of this type; else that of all alternatives together, which may have its own words. */
function issuesMeant(issue: Issue): Issue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const [meant, ...others] = (issue.errors as Issue[][]).filter((issues) => !issues.some(isOfOtherType));
  if (meant === undefined || others.length > 0) return [issue];
  if (issue.message !== '' && meant.some(({ path }) => path.length === 0)) return [issue];
  return meant.map((each) => ({ ...each, path: [...issue.path, ...each.path] })).flatMap(issuesMeant);
}

function isOfOtherType({ code, path, input }: Issue): boolean {
  if (path.length > 0) return false;
  return code === 'invalid_type' || (code === 'invalid_value' && typeof input !== 'string');
}

function allowedBy(schema: z.ZodType | undefined, whole: z.ZodType): Allowed {
  const { shape = {} } = (schema?._zod.def ?? {}) as { shape?: object };
  return {
    keys: Object.keys(shape),
    elsewhere: () => placesOfKeys(whole).filter(({ key }) => !Object.hasOwn(shape, key)),
    isText: (text) => schema?.safeParse(text).success ?? false,
  };
}

function problemsOf(issue: Issue, yaml: YamlFile, allowed: Allowed): Problem[] {
  const path = issue.path as KeyPath;
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => unknownKey(yaml, path, key, allowed));
  }
  const place =
    issue.code === 'invalid_key'
      ? yaml.placeOfKey(path.slice(0, -1), String(path.at(-1)))
      : yaml.placeOf(path);
  const meant = textMeant(issue, yaml.sourceOf(path), allowed);
  return [{ file: yaml.file, ...place, ...explain(asWritten(issue, yaml), path, meant) }];
}

/** A message quotes a text as the file has it: the value of a variable of the caller may be a secret. */
function asWritten(issue: Issue, yaml: YamlFile): Issue {
  const source = yaml.sourceOf(issue.path as KeyPath);
  return source?.includes('${') && issue.input !== undefined ? ({ ...issue, input: source } as Issue) : issue;
}

/** What other systems call the keys. */
const SYNONYMS: Readonly<Record<string, string>> = {
  id: 'name',
  uses: 'tool',
  run: 'command',
  with: 'args',
  if: 'when',
  depends_on: 'needs',
};

/** A key with more places than these is a common word, and none of them is likely. */
const MAX_PLACES = 3;

function unknownKey(yaml: YamlFile, path: KeyPath, key: string, allowed: Allowed): Problem {
  const known = allowed.keys;
  const synonym = SYNONYMS[key];
  const isSynonym = synonym !== undefined && known.includes(synonym);
  const [nearest] = isSynonym ? [synonym] : nearestWords(key, known, 1);
  const places = isSynonym ? [] : allowed.elsewhere().filter((each) => each.key === key);
  const moves = places.length > MAX_PLACES ? [] : places.map((place) => `'${place.path}'`);
  const holder = path.length === 0 ? '' : ` in '${dotted(path)}'`;
  const meant = [...moves, ...(nearest ? [`'${nearest}'`] : [])].join(' or ');
  const ways = [
    ...(moves.length > 0 ? [`move it to ${moves.join(' or ')}`] : []),
    ...(nearest ? [`write '${nearest}'`] : []),
  ].join(', ');
  return {
    file: yaml.file,
    ...yaml.placeOfKey(path, key),
    rule: 'unknown-key',
    message: `unknown key '${key}'${holder}${meant ? `; did you mean ${meant}?` : ''}`,
    fix: ways
      ? `${ways[0]!.toUpperCase()}${ways.slice(1)}, or leave it out.`
      : `Leave it out. Known keys: ${known.join(', ')}.`,
  };
}

type Explanation = Pick<Problem, 'rule' | 'message' | 'fix'>;

function explain(issue: Issue, path: KeyPath, meant: string | undefined): Explanation {
  const name = path.length === 0 ? 'the file' : `'${dotted(path)}'`;
  const key = String(path.at(-1) ?? 'key');
  const { input } = issue;
  if (issue.code === 'custom' && issue.params?.['rule'] !== undefined) {
    return { rule: String(issue.params['rule']), message: issue.message, fix: String(issue.params['fix']) };
  }
  if (input === undefined && issue.code !== 'custom' && issue.code !== 'invalid_key') {
    return { rule: 'missing', message: `${name} is missing`, fix: `Add it: ${key}: …` };
  }
  if (issue.code === 'invalid_union' && issue.message === '') {
    const forms = formsOf(issue.errors as Issue[][]);
    const message = `${name} must be ${forms}, got ${described(input)}`;
    return { rule: 'type', message, fix: `Write ${forms} there.` };
  }
  switch (issue.code) {
    case 'invalid_type': {
      return {
        rule: 'type',
        message: `${name} must be ${wanted(issue.expected, input)}, got ${described(input)}`,
        fix: typeFix(issue.expected, key, input, meant),
      };
    }
    case 'invalid_value': {
      const allowed = issue.values.map(String);
      const [nearest] = typeof input === 'string' ? nearestWords(input, allowed, 1) : [];
      return {
        rule: 'allowed-values',
        message: `${name} ${issue.message || `must be one of ${allowed.join(', ')}`}, got ${described(input)}`,
        fix:
          nearest || allowed.length === 1
            ? `Write ${key}: ${nearest ?? allowed[0]}`
            : 'Write one of the values named.',
      };
    }
    case 'too_small': {
      const least = `${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`;
      return bound(name, input, issue.origin, least);
    }
    case 'too_big': {
      const most = `${issue.inclusive ? 'at most' : 'less than'} ${issue.maximum}`;
      return bound(name, input, issue.origin, most);
    }
    case 'invalid_key':
      return {
        rule: 'key-name',
        message: `the key ${name} ${issue.issues[0]?.message || 'is not allowed here'}`,
        fix: 'Rename the key.',
      };
    default:
      return {
        rule: 'format',
        message: `${name} ${issue.message || 'is invalid'}, got ${described(input)}`,
        fix: 'Change the value to match the rule.',
      };
  }
}

/** What the alternatives of a value are. */
function formsOf(alternatives: readonly Issue[][]): string {
  const forms = alternatives.flatMap(([issue]) => {
    if (issue?.code === 'invalid_type') return wanted(issue.expected, issue.input);
    return issue?.code === 'invalid_value' ? issue.values.map(String) : [];
  });
  return [...new Set(forms)].join(' or ');
}

function bound(name: string, input: unknown, origin: string, limit: string): Explanation {
  const counted = COUNTED[origin];
  return {
    rule: 'bounds',
    message: counted
      ? `${name} must hold ${limit} ${counted}`
      : `${name} must be ${limit}, and is ${described(input)}`,
    fix: counted ? `Write ${limit} ${counted}.` : `Write a number that is ${limit}.`,
  };
}

const COUNTED: Readonly<Record<string, string>> = { string: 'characters', array: 'entries' };

const WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a map of keys',
  record: 'a map of keys',
};

/** The text that a number or a boolean stands for where text is expected: as written, or a version that YAML takes for a number (1.0). */
export function textMeant(issue: Issue, source: string | undefined, { isText }: Allowed): string | undefined {
  if (issue.code !== 'invalid_type' || issue.expected !== 'string') return undefined;
  if (typeof issue.input !== 'number' && typeof issue.input !== 'boolean') return undefined;
  return ['', '.0', '.0.0'].map((end) => `${source ?? issue.input}${end}`).find(isText);
}

function typeFix(expected: string, key: string, input: unknown, meant: string | undefined): string {
  if (
    (expected === 'number' || expected === 'int') &&
    typeof input === 'string' &&
    input.trim() !== '' &&
    Number.isFinite(Number(input))
  ) {
    return `Write it without quotes: ${key}: ${Number(input)}`;
  }
  if (meant !== undefined) return `Put it in quotes: ${key}: "${meant}"`;
  if (expected === 'array' && ['string', 'number'].includes(typeof input)) {
    return `Write it as a list: ${key}: [${JSON.stringify(input)}]`;
  }
  if (input === null) return `Give it a value, or leave '${key}' out.`;
  return `Write ${wanted(expected, input)} there.`;
}

function wanted(expected: string, input: unknown): string {
  return expected === 'number' && typeof input === 'number'
    ? 'a finite number'
    : (WORDS[expected] ?? expected);
}

function described(value: unknown): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map of keys';
  // JSON has neither infinity nor NaN.
  const text = typeof value === 'number' ? String(value) : JSON.stringify(value);
  const short = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  return typeof value === 'string' ? `the text ${short}` : `the ${typeof value} ${short}`;
}

/** `inputs[0].name`: a path in readable form. */
function dotted(path: KeyPath): string {
  return path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text === '' ? part : `${text}.${part}`),
    '',
  );
}
