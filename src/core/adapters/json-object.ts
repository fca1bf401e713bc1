import { inexactNumberIn } from '../../util/exact-json.ts';
import type { Intake } from '../run/attempt/intake.ts';

/** Readers of the events cannot be relied on to parse and write JSON nested deeper than this. */
const MAX_DEPTH = 1000;

export const LINE_WAS_CUT = 'is longer than 1 MiB (1048576 bytes) on one line, and was cut';

const QUOTE = 34;
const BACKSLASH = 92;
const VALUE = /^\s*:\s*(?:"([^"\\]{1,100})"|(true|false)\b)/;

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** A message of a JSONL stream: an object with a `type`. */
export type TypedObject = { type: string; [field: string]: unknown };

/** Parses a line that contains a JSON object. Any other line is recorded as a stray line and returns undefined. */
export function readJsonObject(
  intake: Intake,
  bytes: Uint8Array,
  start: number,
  end: number,
  cut: boolean,
): Record<string, unknown> | undefined {
  const view = bytes.subarray(hasMark(bytes, start) ? start + 3 : start, end);
  const text = Buffer.from(view.buffer, view.byteOffset, view.length).toString('utf8');
  if (cut) {
    intake.unparsedLine('line over 1 MiB was cut', text);
    return undefined;
  }
  warnOfReplaced(intake, text, view);
  if (isTooDeep(view)) {
    intake.unparsedLine(`json nested deeper than ${MAX_DEPTH} levels`, text);
    return undefined;
  }
  const object = startsLikeObject(view) ? parsedObject(text) : undefined;
  if (object === undefined) intake.unparsedLine('non-json stdout', text);
  else warnOfInexact(intake, text);
  return object;
}

/** Programs of Windows begin a text with a byte order mark, which is no part of it. */
function hasMark(bytes: Uint8Array, at: number): boolean {
  return bytes[at] === 0xef && bytes[at + 1] === 0xbb && bytes[at + 2] === 0xbf;
}

/** Warns when the text of these bytes holds others than they do. */
export function warnOfReplaced(intake: Intake, text: string, bytes: Uint8Array): void {
  if (text.includes('\uFFFD') && !isUtf8(bytes))
    intake.warnOnce('utf8', 'E_PROTOCOL', 'the tool wrote bytes that are not UTF-8; they were replaced');
}

function warnOfInexact(intake: Intake, json: string): void {
  const warning = inexactWarning(json);
  if (warning !== undefined) intake.warnOnce('inexact', 'E_PROTOCOL', warning);
}

/** A warning about a number in the JSON of a tool that became another one when it was read. */
export function inexactWarning(json: string): string | undefined {
  const number = inexactNumberIn(json);
  return (
    number && `the tool wrote the number ${number}, which became another one: write it as a text, in quotes`
  );
}

/** Whether the first character is a brace. A thrown SyntaxError for each line of a flood of text would take much longer. */
export function startsLikeObject(bytes: Uint8Array): boolean {
  let at = 0;
  while (bytes[at] === 32 || bytes[at] === 9 || bytes[at] === 13) at++;
  return bytes[at] === 123;
}

function parsedObject(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** The object in a line of another stream, which may hold anything. */
export function objectIn(bytes: Uint8Array, start: number, end: number): Record<string, unknown> | undefined {
  const view = bytes.subarray(start, end);
  if (!startsLikeObject(view) || isTooDeep(view)) return undefined;
  return parsedObject(Buffer.from(view.buffer, view.byteOffset, view.length).toString('utf8'));
}

/** Like `jsonObject`, for streams in which each object has a `type`. */
export function readTypedObject(
  intake: Intake,
  bytes: Uint8Array,
  start: number,
  end: number,
  cut: boolean,
): TypedObject | undefined {
  const message = readJsonObject(intake, bytes, start, end, cut);
  if (message === undefined || typeof message['type'] === 'string') return message as TypedObject | undefined;
  intake.unparsedLine('json without a type', Buffer.from(bytes.subarray(start, end)).toString('utf8'));
  return undefined;
}

/** Counts brackets, including those in strings: a line with a thousand open ones is not worth a precise check. */
function isTooDeep(bytes: Uint8Array): boolean {
  if (bytes.length < MAX_DEPTH) return false;
  let depth = 0;
  // By index: the iterator of an array takes ten times as long.
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === 91 || byte === 123) depth++;
    else if (byte === 93 || byte === 125) depth--;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    strictUtf8.decode(bytes);
    return true;
  } catch {
    return false;
  }
}

/** Returns an untrusted value if it is an object, else an empty object. */
export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A non-empty text. */
export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** The fields that are finite numbers. */
export function numbersOf(value: unknown): Record<string, number> {
  const entries = Object.entries(recordOf(value));
  return Object.fromEntries(entries.filter((entry): entry is [string, number] => Number.isFinite(entry[1])));
}

/**
 * Formats a value on one line of limited length. Do not use `String(value)`: an object may contain a `toString` that is
 * not a function.
 */
export function inShort(value: unknown, maxChars = 200): string {
  const text = (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
    .replace(/\s+/g, ' ')
    .trim();
  return text.length > maxChars ? `${text.slice(0, maxChars - 1)}…` : text;
}

/** A field of a JSON object of which only the beginning is kept; undefined when that does not contain it as a short text, `true` or `false`. */
export function fieldOfCut(bytes: Uint8Array, name: string): string | undefined {
  let depth = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      const from = at + 1;
      at = endOfString(bytes, from);
      if (depth !== 1 || textIn(bytes, from, at) !== name) continue;
      const value = VALUE.exec(textIn(bytes, at + 1, at + 200));
      if (value !== null) return value[1] ?? value[2];
    } else if (byte === 91 || byte === 123) depth++;
    else if (byte === 93 || byte === 125) depth--;
  }
  return undefined;
}

/** The index of the closing quote, or of the end of the kept text. */
function endOfString(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at < bytes.length && bytes[at] !== QUOTE) at += bytes[at] === BACKSLASH ? 2 : 1;
  return at;
}

function textIn(bytes: Uint8Array, start: number, end: number): string {
  const view = bytes.subarray(start, Math.min(end, start + 200));
  return Buffer.from(view.buffer, view.byteOffset, view.length).toString('utf8');
}
