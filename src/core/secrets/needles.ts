import { isUtf8 } from 'node:buffer';
import { byteForms, textForms, urlForms } from './forms.ts';
import { coreOf, MIN_SECRET_BYTES, type Secret } from './secret.ts';

/** Bytes to search for, and the secret that they belong to. */
export interface Needle {
  name: string;
  bytes: Buffer;
}

/** A line of a longer secret with at least this length is searched for separately. */
const MIN_LINE_CHARS = 16;
/** The first and last line of a PEM key are equal for all keys. */
const ARMOR = /^-----(BEGIN|END) [A-Z0-9 ]+-----$/;

/**
 * Everything that would reveal a secret (contract §9): each secret in its encoded forms, and the long lines of
 * multi-line secrets.
 */
export function needlesOf(secrets: readonly Secret[]): Needle[] {
  const ofLines = secrets.flatMap(({ name, bytes }) =>
    linesOf(bytes).flatMap((line) => namedForms(name, [line, ...urlForms(line), ...textFormsOf(line)])),
  );
  return distinct([...secrets.flatMap(wholeFormsOf), ...ofLines]);
}

/** The encoded forms of whole secrets only. */
export function wholeNeedlesOf(secrets: readonly Secret[]): Needle[] {
  return distinct(secrets.flatMap(wholeFormsOf));
}

function wholeFormsOf({ name, bytes }: Secret): Needle[] {
  const core = coreOf(bytes);
  const values = core.length === bytes.length ? [bytes] : [bytes, core];
  return values.flatMap((value) =>
    namedForms(name, [value, ...byteForms(value), ...urlForms(value), ...textFormsOf(value)]),
  );
}

function namedForms(name: string, forms: readonly Buffer[]): Needle[] {
  return forms.filter(({ length }) => length >= MIN_SECRET_BYTES).map((bytes) => ({ name, bytes }));
}

/** Of equal needles the first. */
function distinct(needles: readonly Needle[]): Needle[] {
  const found = new Map<string, Needle>();
  for (const needle of needles) {
    const key = needle.bytes.toString('latin1');
    if (!found.has(key)) found.set(key, needle);
  }
  return [...found.values()];
}

function textFormsOf(bytes: Buffer): Buffer[] {
  return isUtf8(bytes) ? textForms(bytes.toString('utf8')).map((text) => Buffer.from(text)) : [];
}

function linesOf(bytes: Buffer): Buffer[] {
  const lines = bytes.toString('latin1').split('\n');
  if (lines.length === 1) return [];
  return lines
    .map((line) => coreOf(Buffer.from(line, 'latin1')))
    .filter((line) => line.length >= MIN_LINE_CHARS && !ARMOR.test(line.toString('latin1')));
}
