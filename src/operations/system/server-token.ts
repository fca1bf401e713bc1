import { randomBytes } from 'node:crypto';
import { closeSync, constants, fstatSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { errorCode, errorMessage } from '../../util/error-code.ts';
import { shellCommand } from '../../util/shell-words.ts';

const LEAST_CHARS = 16;
/** Of a file that may hold a token. */
const MOST_BYTES = 4096;

const TOKEN_RULE = `at least ${LEAST_CHARS} characters: letters, digits, . _ ~ + / = -`;
export const USE_NEW =
  'Pass a path where there is no file: ACOR writes a new token there, which only you can read.';

export interface ServerToken {
  token: string;
  isNew: boolean;
  /** Where `writeNewToken` writes a new token. */
  newFile?: string;
}

/** The token that clients of the server must send: `given` in a variable, from the file, or a new one. Writes nothing. */
export function serverToken({
  given,
  variable,
  file,
}: {
  given?: string | undefined;
  variable: string;
  file: string | undefined;
}): ServerToken {
  if (given !== undefined && given !== '') return { token: checked(given, variable), isNew: false };
  const token = file === undefined ? undefined : readToken(file);
  if (token !== undefined) return { token, isNew: false };
  return { token: newToken(), isNew: true, ...(file !== undefined && { newFile: file }) };
}

/** Writes a new token into its file; for each of a server only when all of them can be used. */
export function writeNewToken({ token, newFile }: ServerToken): void {
  if (newFile !== undefined) makeFile(newFile, token);
}

function readToken(path: string): string | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw unusable(path, errorMessage(error), 'Use another file.');
  }
  try {
    const stats = fstatSync(fd);
    const token = stats.isFile() && stats.size <= MOST_BYTES ? readFileSync(fd, 'utf8').trim() : undefined;
    if (token === undefined || !isToken(token))
      throw unusable(path, `it is not a token: ${TOKEN_RULE}`, USE_NEW);
    if (stats.uid !== process.getuid?.()) throw unusable(path, 'it belongs to another user', USE_NEW);
    if ((stats.mode & 0o077) !== 0) throw unusable(path, 'other users can read or write it', closeTo(path));
    return token;
  } finally {
    closeSync(fd);
  }
}

function makeFile(path: string, token: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const fd = openSync(path, 'wx', 0o600);
    writeSync(fd, `${token}\n`);
    closeSync(fd);
  } catch (error) {
    throw unusable(path, errorMessage(error), 'Use a file in a folder that you can write to.');
  }
}

function newToken(): string {
  return randomBytes(32).toString('base64url');
}

function checked(token: string, variable: string): string {
  if (isToken(token)) return token;
  throw new AcorError('E_USAGE', `${variable} must be ${TOKEN_RULE}`, {
    hint: 'Create one with: openssl rand -hex 32',
  });
}

function isToken(text: string): boolean {
  return /^[\w.~+/=-]+$/.test(text) && text.length >= LEAST_CHARS;
}

function closeTo(path: string): string {
  return `Run: ${shellCommand(['chmod', '600', path])}`;
}

function unusable(path: string, why: string, hint: string): AcorError {
  return new AcorError('E_USAGE', `the token file ${path} cannot be used: ${why}`, { hint });
}
