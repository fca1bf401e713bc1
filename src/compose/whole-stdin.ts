import { MAX_STDIN_BYTES, readStdin, type StdinBytes, TOO_LONG } from '../util/read-stdin.ts';
import { AppError } from './app-error.ts';

/** The bytes of a standard input that was read to its end. Anything else is a usage error. */
export function wholeStdin({ bytes, problem }: StdinBytes): Uint8Array {
  if (problem === undefined) return bytes;
  if (problem === TOO_LONG)
    throw new AppError('E_USAGE', `standard input has more than ${MAX_STDIN_BYTES} bytes`, {
      hint: 'Write the data to a file, and name the file in the command.',
    });
  throw new AppError('E_USAGE', `standard input cannot be read: ${problem}`, {
    hint: 'Start the command with a file or a pipe as its standard input, or with < /dev/null.',
  });
}

/** All of the standard input of this process. */
export async function readStdinBytes(): Promise<Uint8Array> {
  return wholeStdin(await readStdin());
}

/** The same as text. */
export async function readStdinText(): Promise<string> {
  return new TextDecoder().decode(await readStdinBytes());
}
