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
  const found = new Map<string, Needle>();
  const add = (name: string, bytes: Buffer) => {
    const key = bytes.toString('latin1');
    if (bytes.length >= MIN_SECRET_BYTES && !found.has(key)) found.set(key, { name, bytes });
  };
  for (const { name, bytes } of secrets) {
    const core = coreOf(bytes);
    for (const value of core.length === bytes.length ? [bytes] : [bytes, core]) {
      for (const form of [value, ...byteForms(value), ...urlForms(value)]) add(name, form);
      for (const form of textFormsOf(value)) add(name, form);
    }
    for (const line of linesOf(bytes)) {
      for (const form of [line, ...urlForms(line), ...textFormsOf(line)]) add(name, form);
    }
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
