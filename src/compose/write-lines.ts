import { fstatSync } from 'node:fs';
import { writeAsync } from '../util/write-async.ts';
import { escapeForTerminal } from './envelope.ts';

/**
 * Writes JSON lines unchanged. Only for a terminal, characters that control it are escaped; a JSON reader gets the same
 * values.
 */
export async function writeLines(fd: number, lines: Uint8Array): Promise<'written' | 'closed'> {
  if (!(await isTerminal(fd))) return writeAsync(fd, lines);
  const text = Buffer.from(lines.buffer, lines.byteOffset, lines.length).toString('utf8');
  return writeAsync(fd, Buffer.from(escapeForTerminal(text)));
}

/** `node:tty` takes milliseconds to load, so it is only used for devices. */
async function isTerminal(fd: number): Promise<boolean> {
  try {
    return fstatSync(fd).isCharacterDevice() && (await import('node:tty')).isatty(fd);
  } catch {
    // The descriptor is closed, which the write reports.
    return false;
  }
}
