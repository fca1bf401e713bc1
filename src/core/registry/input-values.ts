import { isOfType, isQuickPattern, parseDurationS } from '../../protocol/input-types.ts';
import type { Choice, InputSpec } from '../../protocol/manifest.ts';
import { inexactNumber, isInexact, lossOf, lossOfNumber } from '../../util/exact-json.ts';
import { allowedWords } from './argument-problem.ts';

/** A value from the caller: a word of the command line, or a value from `--input-json` or a default. */
export type GivenValue = { text: string } | { json: unknown };

/** A value of an input: as data, and as the word that the tool gets. */
export interface InputValue {
  value: unknown;
  text: string;
  /** A duration as the caller wrote it: its value is in seconds, and a schema is about the text. */
  written?: string;
}

/** Why a value is invalid. */
export interface ValueMistake {
  rule: string;
  mistake: string;
  fix?: string;
}

/** Parses a value as the input's type and checks the input's limits, except for a pattern that may take long (`slowValuesOf`). */
export function readValue(spec: InputSpec, given: GivenValue): InputValue | ValueMistake {
  const read = 'text' in given ? fromText(spec, given.text) : fromJson(spec, given.json);
  if ('mistake' in read) return read;
  if (read.text.includes('\0')) return { rule: 'nul', mistake: 'must not hold a NUL byte' };
  // As an argument it would be another text.
  if (!read.text.isWellFormed())
    return { rule: 'utf-8', mistake: 'must not hold half of a surrogate pair, which is no character' };
  return limitMistake(spec, read) ?? read;
}

function fromText(spec: InputSpec, text: string): InputValue | ValueMistake {
  const wrong = { rule: 'type', mistake: WANTED[spec.type] };
  switch (spec.type) {
    case 'string':
    case 'path':
      return { value: text, text };
    case 'url':
      return URL.canParse(text) ? { value: text, text } : wrong;
    case 'int':
    case 'number': {
      if (!NUMBER.test(text)) return wrong;
      if (isInexact(text)) return notHeld(text);
      const value = Number(text);
      if (spec.type === 'number') return { value, text };
      // As in JSON Schema, 5.0 is a whole number.
      if (!Number.isInteger(value)) return wrong;
      return Number.isSafeInteger(value) ? { value, text: String(value) } : notHeld(text);
    }
    case 'bool':
      return text === 'true' || text === 'false' ? { value: text === 'true', text } : wrong;
    case 'duration': {
      const value = parseDurationS(text);
      return value === undefined ? wrong : { value, text: String(value), written: text };
    }
    case 'json':
      return fromJsonText(text) ?? wrong;
  }
}

function fromJson(spec: InputSpec, json: unknown): InputValue | ValueMistake {
  const inexact = inexactNumber(json);
  if (inexact !== undefined) return notHeld(inexact);
  if (spec.type === 'int' && Number.isInteger(json) && !Number.isSafeInteger(json))
    return notHeld(String(json));
  if (!isOfType(spec.type, json)) return { rule: 'type', mistake: WANTED[spec.type] };
  if (spec.type === 'json') return { value: json, text: JSON.stringify(json) };
  return fromText(spec, String(json));
}

function fromJsonText(text: string): InputValue | ValueMistake | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const loss = lossOf(text, value);
  return loss === undefined ? { value, text: JSON.stringify(value) } : { rule: 'type', ...loss };
}

const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

function notHeld(number: string): ValueMistake {
  return { rule: 'type', ...lossOfNumber(number) };
}

function limitMistake(spec: InputSpec, { value, text }: InputValue): ValueMistake | undefined {
  const isOne = (choice: Choice) =>
    choice === value ||
    String(choice) === text ||
    (spec.type === 'duration' && parseDurationS(String(choice)) === value);
  if (spec.enum !== undefined && !spec.enum.some(isOne)) {
    return { rule: 'enum', mistake: `must be one of ${allowedWords(spec)!.join(', ')}` };
  }
  const size = typeof value === 'number' ? value : [...text].length;
  const limit = (count: number) => {
    if (spec.type === 'duration') return `${count} ${count === 1 ? 'second' : 'seconds'}`;
    return typeof value === 'number'
      ? String(count)
      : `${count} ${count === 1 ? 'character' : 'characters'} long`;
  };
  if (spec.min !== undefined && size < spec.min)
    return { rule: 'min', mistake: `must be at least ${limit(spec.min)}` };
  if (spec.max !== undefined && size > spec.max)
    return { rule: 'max', mistake: `must be at most ${limit(spec.max)}` };
  if (spec.pattern === undefined || !isQuickPattern(spec.pattern, text.length)) return undefined;
  return new RegExp(spec.pattern, 'u').test(text) ? undefined : patternMistake(spec.pattern);
}

export function patternMistake(pattern: string): ValueMistake {
  return { rule: 'pattern', mistake: `must match ${pattern}` };
}

const WANTED: Readonly<Record<InputSpec['type'], string>> = {
  string: 'must be text',
  path: 'must be a path',
  url: 'must be a URL, such as https://example.com/',
  int: 'must be a whole number',
  number: 'must be a number',
  bool: 'must be true or false',
  duration: 'must be a duration, such as 90, 90s, 5m, 1h or 250ms',
  json: 'must be JSON',
};
