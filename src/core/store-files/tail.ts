import { parseEvent } from '../../protocol/parse-event.ts';
import type { LogExtent, ReadEvent } from '../ports/run-store.ts';
import { eventsOfTypes } from './marked-lines.ts';
import type { ReadableFile } from './readable-file.ts';

/** The last events of most logs are in so many bytes; more is read only when the reader asks for more. */
const FIRST_BYTES = 1 << 16;
const TAIL_BYTES = 1 << 21;
const EXTENT_BYTES = 1 << 13;
const LF = 10;

/** The events of the last part of a log, the newest first; only those of `types` when these are given. A torn last line is left out. */
export function* tailOf(log: ReadableFile, types?: readonly string[]): Generator<ReadEvent> {
  const wanted = types && new Set(types);
  for (const lines of lastParts(log))
    yield* wanted === undefined ? newestFirst(lines) : eventsOfTypes(lines, wanted, 'newest');
}

/** How much of a log is whole lines; the cost is that of its last line. */
export function extentOf(log: ReadableFile): LogExtent {
  const { size } = log;
  for (let reach = EXTENT_BYTES; ; reach *= 8) {
    const { lines, from } = wholeLinesIn(log, Math.max(0, size - reach), size);
    for (const { seq } of newestFirst(lines)) return { events: Number(seq), bytes: from + lines.length };
    if (reach >= size) return { events: 0, bytes: 0 };
  }
}

/** The whole lines among the last bytes of a log. */
export function lastBytes(log: ReadableFile, maxBytes: number): Buffer {
  const { size } = log;
  return wholeLinesIn(log, Math.max(0, size - maxBytes), size).lines;
}

/** Parts of whole lines, the last one first, as far back as the tail of a log reaches. */
function* lastParts(log: ReadableFile): Generator<Buffer> {
  const { size } = log;
  let end = size;
  let isWithinLine = true;
  for (let reach = FIRST_BYTES; ; reach *= 32) {
    // Beyond the tail only to the beginning of a line: a `runner_end` names up to ten thousand artifacts, and a result has data of any length.
    if (end === 0 || (reach > TAIL_BYTES && !isWithinLine)) return;
    const { lines, from } = wholeLinesIn(log, Math.max(0, size - reach), end);
    isWithinLine = lines.length === 0;
    if (lines.length > 0) {
      yield lines;
      end = from;
    }
    if (reach >= size) return;
  }
}

/** The whole lines between two offsets, and where they begin. What is before the first line end belongs to a line that began earlier. */
function wholeLinesIn(log: ReadableFile, from: number, to: number): { lines: Buffer; from: number } {
  const bytes = Buffer.allocUnsafe(to - from);
  const count = log.read(bytes, from);
  const read = bytes.subarray(0, count);
  const start = from === 0 ? 0 : read.indexOf(LF) + 1;
  return { lines: read.subarray(start, Math.max(start, read.lastIndexOf(LF) + 1)), from: from + start };
}

function* newestFirst(lines: Buffer): Generator<ReadEvent> {
  for (let end = lines.length - 1; end > 0; ) {
    const start = lines.lastIndexOf(LF, end - 1) + 1;
    yield parseEvent(lines.toString('utf8', start, end)) as ReadEvent;
    end = start - 1;
  }
}
