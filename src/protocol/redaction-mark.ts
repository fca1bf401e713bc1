const BEGINNING = '[redacted:';

/** The marks in a text, to split it. */
export const REDACTION_MARKS = /\[redacted:[^\]]*\]/;

/** The replacement for a secret (contract §9), which is valid inside a JSON string. */
export function redactionMark(name: string): string {
  return `${BEGINNING}${name}]`;
}

/**
 * Whether a JSON value contains a redaction mark (also one that a person wrote), so it must not be used as the
 * original.
 */
export function holdsRedaction(value: unknown): boolean {
  return JSON.stringify(value)?.includes(BEGINNING) ?? false;
}
