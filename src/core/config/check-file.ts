import type * as z from 'zod';
import { nearestWords } from '../../util/nearest.ts';
import type { Problem } from './problem.ts';
import type { KeyPath, YamlFile } from './yaml-file.ts';

/** An issue as the schema reports it. */
export type Issue = z.core.$ZodIssue & { input?: unknown; params?: Record<string, unknown> };

/**
 * Validates a file against its schema. Reports every problem at once, with its place, rule and fix. `onIssue` gets each
 * schema issue, and the known keys at its place.
 */
export function checkFile<T>(
  schema: z.ZodType<T>,
  yaml: YamlFile,
  value: unknown = yaml.value,
  onIssue: (issue: Issue, knownKeys: readonly string[]) => void = () => {},
): { data?: T; problems: Problem[] } {
  if (yaml.problems.length > 0) return { problems: yaml.problems };
  const knownKeys = new Map<string, string[]>();
  const checked = schema.safeParse(value, {
    reportInput: true,
    // Called for issues without a special message; these are found below, and the known keys are only available here.
    error: (issue) => {
      if (issue.code === 'unrecognized_keys')
        knownKeys.set(JSON.stringify(issue.path ?? []), keysOf(issue.inst));
      return '';
    },
  });
  if (checked.success) return { data: checked.data, problems: [] };
  const problems = checked.error.issues.flatMap((issue) => {
    const known = knownKeys.get(JSON.stringify(issue.path)) ?? [];
    onIssue(issue as Issue, known);
    return problemsOf(issue as Issue, yaml, known);
  });
  return { problems: problems.sort((a, b) => a.line - b.line || a.column - b.column) };
}

function keysOf(schema: unknown): string[] {
  const shape = (schema as { _zod?: { def?: { shape?: object } } } | undefined)?._zod?.def?.shape;
  return shape === undefined ? [] : Object.keys(shape);
}

function problemsOf(issue: Issue, yaml: YamlFile, known: string[]): Problem[] {
  const path = issue.path as KeyPath;
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => unknownKey(yaml, path, key, known));
  }
  const place =
    issue.code === 'invalid_key'
      ? yaml.placeOfKey(path.slice(0, -1), String(path.at(-1)))
      : yaml.placeOf(path);
  return [{ file: yaml.file, ...place, ...explain(issue, path, yaml.sourceOf(path)) }];
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

function unknownKey(yaml: YamlFile, path: KeyPath, key: string, known: string[]): Problem {
  const synonym = SYNONYMS[key];
  const [nearest] =
    synonym !== undefined && known.includes(synonym) ? [synonym] : nearestWords(key, known, 1);
  const holder = path.length === 0 ? '' : ` in '${dotted(path)}'`;
  return {
    file: yaml.file,
    ...yaml.placeOfKey(path, key),
    rule: 'unknown-key',
    message: `unknown key '${key}'${holder}${nearest ? `; did you mean '${nearest}'?` : ''}`,
    fix: nearest ? `Write '${nearest}', or leave it out.` : `Leave it out. Known keys: ${known.join(', ')}.`,
  };
}

type Explanation = Pick<Problem, 'rule' | 'message' | 'fix'>;

function explain(issue: Issue, path: KeyPath, source: string | undefined): Explanation {
  const name = path.length === 0 ? 'the file' : `'${dotted(path)}'`;
  const key = String(path.at(-1) ?? 'key');
  const { input } = issue;
  if (issue.code === 'custom' && issue.params?.['rule'] !== undefined) {
    return { rule: String(issue.params['rule']), message: issue.message, fix: String(issue.params['fix']) };
  }
  if (input === undefined && issue.code !== 'custom' && issue.code !== 'invalid_key') {
    return { rule: 'missing', message: `${name} is missing`, fix: `Add it: ${key}: …` };
  }
  switch (issue.code) {
    case 'invalid_type': {
      const expected = WORDS[issue.expected] ?? issue.expected;
      return {
        rule: 'type',
        message: `${name} must be ${expected}, got ${described(input)}`,
        fix: typeFix(issue.expected, key, input, source),
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

function typeFix(expected: string, key: string, input: unknown, source: string | undefined): string {
  if (
    (expected === 'number' || expected === 'int') &&
    typeof input === 'string' &&
    input.trim() !== '' &&
    Number.isFinite(Number(input))
  ) {
    return `Write it without quotes: ${key}: ${Number(input)}`;
  }
  if (expected === 'string' && (typeof input === 'number' || typeof input === 'boolean')) {
    return `Put it in quotes: ${key}: "${source ?? input}"`;
  }
  if (expected === 'array' && ['string', 'number'].includes(typeof input)) {
    return `Write it as a list: ${key}: [${JSON.stringify(input)}]`;
  }
  if (input === null) return `Give it a value, or leave '${key}' out.`;
  return `Write ${WORDS[expected] ?? expected} there.`;
}

function described(value: unknown): string {
  if (value === null) return 'empty';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object') return 'a map of keys';
  const text = JSON.stringify(value);
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
