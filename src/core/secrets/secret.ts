/** A named secret: a stored one that a tool requests, or the value of a secret input. */
export interface Secret {
  name: string;
  bytes: Buffer;
}

/** Shorter values would match ordinary output by chance. */
export const MIN_SECRET_BYTES = 8;
export const MAX_SECRET_BYTES = 65_536;

/** Why a value is not valid as a secret, and what to do about it. */
export interface SecretProblem {
  what: string;
  fix: string;
}

/** The problem of a value that is not valid as a secret; undefined when it is. */
export function problemOfSecret(bytes: Buffer): SecretProblem | undefined {
  if (bytes.length === 0)
    return { what: 'it is empty', fix: 'Pass the value on standard input or in a file.' };
  if (bytes.length > MAX_SECRET_BYTES) {
    return {
      what: `it has more than ${MAX_SECRET_BYTES} bytes`,
      fix: 'Store a key or password here, and pass large data to the tool as a file.',
    };
  }
  if (bytes.includes(0)) {
    return {
      what: 'it contains a NUL byte; a secret must be text',
      fix: 'Encode the value as text, such as base64.',
    };
  }
  const { length } = coreOf(bytes);
  if (length >= MIN_SECRET_BYTES) return undefined;
  return {
    what: `it has ${length} bytes (without surrounding white space); a secret of fewer than ${MIN_SECRET_BYTES} bytes cannot be redacted`,
    fix: `Have the service issue a value of at least ${MIN_SECRET_BYTES} bytes. If the value need not be kept secret, pass it to the tool as an input.`,
  };
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
