import { writeSync } from 'node:fs';
import { pause } from '../util/pause.ts';
import { UnwrittenError, writeAsync } from '../util/write-async.ts';
import { escapeForTerminal } from './envelope.ts';
import { isTerminal } from './is-terminal.ts';

const FIRST_WAIT_MS = 1;
const MAX_WAIT_MS = 50;

/**
 * Writes all of a text to a descriptor before it returns, so that an immediate exit loses nothing. False when the
 * reader has closed it.
 */
export async function writeOut(fd: number, text: string): Promise<boolean> {
  // Not `Buffer`, which a short command does not load.
  const bytes = new TextEncoder().encode(text);
  let waitMs = FIRST_WAIT_MS;
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(fd, bytes, written);
      waitMs = FIRST_WAIT_MS;
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === 'EPIPE') return false;
      // Another process made the pipe non-blocking, and it is full until its reader catches up.
      if (code !== 'EAGAIN' && code !== 'EINTR') throw new UnwrittenError(fd, error);
      await pause(waitMs);
      waitMs = Math.min(waitMs * 2, MAX_WAIT_MS);
    }
  }
  return true;
}

/**
 * Writes JSON lines unchanged. Only for a terminal, characters that control it are escaped; a JSON reader gets the same
 * values.
 */
export async function writeLines(fd: number, lines: Uint8Array): Promise<'written' | 'closed'> {
  if (!(await isTerminal(fd))) return writeAsync(fd, lines);
  const text = Buffer.from(lines.buffer, lines.byteOffset, lines.length).toString('utf8');
  return writeAsync(fd, Buffer.from(escapeForTerminal(text)));
}
