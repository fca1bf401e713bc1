import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { ReadEvent } from '../ports/run-store.ts';
import { storageError } from './storage-error.ts';

const TAIL_BYTES = 1 << 21;
const LF = 10;

/** The events of the last part of a log, the newest first. A torn last line is left out. */
export function* tailOf(path: string): Generator<ReadEvent> {
  const lines = lastBytes(path, TAIL_BYTES);
  for (let end = lines.length - 1; end > 0; ) {
    const start = end === 0 ? 0 : lines.lastIndexOf(LF, end - 1) + 1;
    yield JSON.parse(lines.toString('utf8', start, end));
    end = start - 1;
  }
}

/** The whole lines among the last bytes of a log. */
export function lastBytes(path: string, maxBytes: number): Buffer {
  const fd = openLog(path);
  try {
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, maxBytes));
    const count = readSync(fd, bytes, 0, bytes.length, size - bytes.length);
    const from = bytes.length < size ? bytes.indexOf(LF) + 1 : 0;
    return bytes.subarray(from, Math.max(from, bytes.lastIndexOf(LF, count - 1) + 1));
  } finally {
    closeSync(fd);
  }
}

export function openLog(path: string): number {
  try {
    return openSync(path, 'r');
  } catch (error) {
    throw storageError(error, 'read the event log', path);
  }
}
