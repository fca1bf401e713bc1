/** Completes "the number 1e400, …". */
export const NOT_HELD = 'which ACOR could only pass on as another one: write it as a text, in quotes';

/** Strings, which may have digits, and numbers of a JSON text. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/gs;

/**
 * The first number of a JSON text that a program cannot hold: `JSON.parse` makes null of 1e400 when it is written again, 0 of 1e-400, and another
 * whole number of one with more than 16 digits.
 */
export function inexactNumber(json: string): string | undefined {
  for (const [token] of json.matchAll(TOKENS)) if (!token.startsWith('"') && isInexact(token)) return token;
  return undefined;
}

function isInexact(token: string): boolean {
  const value = Number(token);
  if (!Number.isFinite(value)) return true;
  if (/^-?\d+$/.test(token)) return !Number.isSafeInteger(value) && BigInt(token) !== BigInt(value);
  return value === 0 && /[1-9]/.test(token.split(/e/i)[0]!);
}
