import type * as z from 'zod';
import { nearest } from '../util/nearest.ts';
import { didYouMean, type UsageProblem } from './app-error.ts';
import { label, type Parameter } from './parameters.ts';

/**
 * Pass it to a check: an issue then has a message only if the schema's author wrote one, and this module writes the
 * others.
 */
export const PLAIN_WORDS = { error: () => '' } as const;

/**
 * Describes a schema issue in terms of the command line: what is wrong with a value and what is valid. The check must
 * use `PLAIN_WORDS`. `nameOf` names a parameter for callers without a command line.
 */
export function describeIssue(
  issue: z.core.$ZodIssue,
  parameters: readonly Parameter[],
  values: Readonly<Record<string, unknown>>,
  nameOf: (parameter: Parameter | undefined) => string = (each) =>
    each === undefined ? '--input-json' : label(each),
): UsageProblem {
  const [key, ...below] = issue.path;
  if (key === undefined) return { parameter: 'input', message: issue.message || wholeWanted(issue) };
  const parameter = parameters.find((each) => each.key === key);
  const where = nameOf(parameter);
  const whole = values[String(key)];
  if (parameter !== undefined && below.length === 0 && whole === undefined) {
    return { parameter: where, message: `${where} is required` };
  }
  if (parameter?.isSecret === true) return { parameter: where, message: ofSecret(where, issue) };
  // For a repeated flag, the value identifies the occurrence.
  const inner = parameter?.isArray && Array.isArray(whole) ? below.slice(1) : below;
  const place = inner.length === 0 ? where : `${where} at ${inner.map(String).join('.')}`;
  if (issue.message !== '') return { parameter: where, message: `${place}: ${issue.message}` };
  const given = below.reduce<unknown>(memberOf, whole);
  const guess =
    issue.code === 'invalid_value' && typeof given === 'string'
      ? nearest(given, issue.values.map(String))
      : undefined;
  return {
    parameter: where,
    message: `${place} must ${wanted(issue)}${instead(issue, given)}`,
    ...didYouMean(guess),
  };
}

function wholeWanted({ code }: z.core.$ZodIssue): string {
  return code === 'invalid_type' ? 'the input must be a JSON object' : 'the input does not fit';
}

/** Nothing of the value, which the keys in it belong to. */
function ofSecret(where: string, issue: z.core.$ZodIssue): string {
  if (issue.message !== '') return `${where}: ${issue.message}`;
  const namesKeys = issue.code === 'unrecognized_keys' || issue.code === 'invalid_union';
  return `${where} must ${namesKeys ? 'be valid for the command' : wanted(issue)}`;
}

function instead({ code }: z.core.$ZodIssue, given: unknown): string {
  if (code === 'unrecognized_keys') return '';
  return given === undefined ? '; it is missing' : `, not ${shown(given)}`;
}

/** What is valid, as a continuation of "must". */
function wanted(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `be ${TYPES[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return issue.values.length === 1
        ? `be ${String(issue.values[0])}`
        : `be one of ${issue.values.map(String).join(', ')}`;
    case 'too_small':
      return bound(issue, issue.minimum, issue.inclusive === false ? 'greater than' : 'at least');
    case 'too_big':
      return bound(issue, issue.maximum, issue.inclusive === false ? 'less than' : 'at most');
    case 'not_multiple_of':
      return `be a multiple of ${issue.divisor}`;
    case 'invalid_format':
      return formatWanted(issue);
    case 'unrecognized_keys':
      return `not have the key ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}`;
    case 'invalid_union':
      return unionWanted(issue);
    default:
      return 'be valid for the command';
  }
}

type Bound = { origin: string; exact?: boolean };

function bound({ origin, exact = false }: Bound, limit: number | bigint, words: string): string {
  const counted = COUNTED[origin];
  const amount = exact ? `exactly ${limit}` : `${words} ${limit}`;
  return counted === undefined ? `be ${amount}` : `have ${amount} ${limit === 1 ? counted : `${counted}s`}`;
}

function formatWanted({ format, pattern }: z.core.$ZodIssueInvalidStringFormat): string {
  const name = FORMATS[format];
  if (name !== undefined) return `be ${name}`;
  return pattern === undefined ? `be of the form ${format}` : `match ${pattern}`;
}

function unionWanted(issue: z.core.$ZodIssueInvalidUnion): string {
  const ways = issue.errors.flatMap(([first]) => (first === undefined ? [] : [wantedWithin(first)]));
  return ways.length === 0 ? 'be valid for the command' : [...new Set(ways)].join(' or ');
}

function wantedWithin(issue: z.core.$ZodIssue): string {
  const words = issue.message || wanted(issue);
  return issue.path.length === 0 ? words : `at ${issue.path.map(String).join('.')} ${words}`;
}

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a JSON object',
  record: 'a JSON object',
  null: 'null',
};

const COUNTED: Readonly<Record<string, string>> = {
  string: 'character',
  array: 'element',
  set: 'element',
  object: 'key',
  record: 'key',
};

const FORMATS: Readonly<Record<string, string>> = {
  url: 'a URL',
  email: 'an e-mail address',
  uuid: 'a UUID',
  datetime: 'a time such as 2030-01-31T12:00:00Z',
  date: 'a date such as 2030-01-31',
};

function memberOf(value: unknown, key: PropertyKey): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined;
}

const SHOWN_CHARS = 60;

function shown(value: unknown): string {
  if (typeof value === 'function') return 'a function';
  // JSON has no NaN and no Infinity.
  const text = typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? String(value));
  return text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}…` : text;
}
