/** A named secret: a stored one that a tool requests, or the value of a secret input. */
export interface Secret {
  name: string;
  bytes: Buffer;
}

/** Shorter values would match ordinary output by chance. */
export const MIN_SECRET_BYTES = 8;
export const MAX_SECRET_BYTES = 65_536;

/** Why a value is not valid as a secret; undefined when it is. */
export function problemOfSecret(bytes: Buffer): string | undefined {
  if (bytes.length === 0) return 'it is empty';
  if (bytes.length > MAX_SECRET_BYTES) return `it has more than ${MAX_SECRET_BYTES} bytes`;
  if (bytes.includes(0)) return 'it contains a NUL byte; a secret must be text';
  const { length } = coreOf(bytes);
  if (length >= MIN_SECRET_BYTES) return undefined;
  return `it has ${length} bytes (without surrounding white space); a secret of fewer than ${MIN_SECRET_BYTES} bytes cannot be redacted`;
}

/** The value without surrounding white space, which programs often strip. */
export function coreOf(bytes: Buffer): Buffer {
  let from = 0;
  let to = bytes.length;
  while (from < to && isSpace(bytes[from]!)) from++;
  while (to > from && isSpace(bytes[to - 1]!)) to--;
  return bytes.subarray(from, to);
}

function isSpace(byte: number): boolean {
  return byte === 32 || (byte >= 9 && byte <= 13);
}
