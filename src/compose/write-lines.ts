import { fstatSync } from 'node:fs';
import { writeAsync } from '../util/write-async.ts';
import { escapeForTerminal } from './envelope.ts';

/**
 * Writes stored events as they are. Only for a terminal are the characters escaped that JSON leaves bare and a terminal obeys;
 * a reader of JSON finds the same values.
 */
export async function writeEvents(fd: number, lines: Uint8Array): Promise<'written' | 'closed'> {
  if (!(await isTerminal(fd))) return writeAsync(fd, lines);
  const text = Buffer.from(lines.buffer, lines.byteOffset, lines.length).toString('utf8');
  return writeAsync(fd, Buffer.from(escapeForTerminal(text)));
}

/** `node:tty` takes milliseconds to load, so it is only asked about devices. */
async function isTerminal(fd: number): Promise<boolean> {
  try {
    return fstatSync(fd).isCharacterDevice() && (await import('node:tty')).isatty(fd);
  } catch {
    // Closed: the write will tell.
    return false;
  }
}
