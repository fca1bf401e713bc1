import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { LogExtent, ReadEvent } from '../ports/run-store.ts';
import { storageError } from './storage-error.ts';

const TAIL_BYTES = 1 << 21;
const EXTENT_BYTES = 1 << 13;
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

/** How much of a log is whole lines; the cost is that of its last line. */
export function extentOf(path: string): LogExtent {
  for (let maxBytes = EXTENT_BYTES; ; maxBytes *= 8) {
    const { lines, end, isAll } = readLast(path, maxBytes);
    if (lines.length > 0) {
      const last = lines.toString('utf8', lines.lastIndexOf(LF, lines.length - 2) + 1);
      return { events: Number(JSON.parse(last).seq), bytes: end };
    }
    if (isAll) return { events: 0, bytes: 0 };
  }
}

/** The whole lines among the last bytes of a log. */
export function lastBytes(path: string, maxBytes: number): Buffer {
  return readLast(path, maxBytes).lines;
}

/** The same, with where they end in the log, and whether the log holds no others. */
function readLast(path: string, maxBytes: number): { lines: Buffer; end: number; isAll: boolean } {
  const fd = openLog(path);
  try {
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, maxBytes));
    const start = size - bytes.length;
    const count = readSync(fd, bytes, 0, bytes.length, start);
    const isAll = start === 0;
    const from = isAll ? 0 : bytes.indexOf(LF) + 1;
    const to = Math.max(from, bytes.lastIndexOf(LF, count - 1) + 1);
    return { lines: bytes.subarray(from, to), end: start + to, isAll };
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
