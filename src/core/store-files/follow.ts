import { LineReader } from '../../protocol/jsonl.ts';
import { parseEvent } from '../../protocol/parse-event.ts';
import { type ChangeSource, ChangeWaiter } from '../../util/change-waiter.ts';
import { errorCode } from '../../util/error-code.ts';
import { nextTurn } from '../../util/pause.ts';
import type { FollowOptions } from '../ports/run-store.ts';
import type { ReadableFile } from './readable-file.ts';

const CHUNK_BYTES = 1 << 18;
/** A reader that is further behind reads so much at once, on another thread. */
const FAR_BEHIND_BYTES = 1 << 20;
const PROBE_BYTES = 1 << 16;
/** For file systems without inotify, which reports new bytes everywhere else. */
const POLL_MS = 500;
/** The end of a run that was just started is reported: only what it writes when it works for longer is watched. */
const YOUNG_MS = 250;
/** After so long without a wait, timers get their turn: the reader of a long log may hold a deadline or a cancel. */
const MAX_TURN_MS = 10;
const LF = 10;
const END_MARK = Buffer.from('"type":"runner_end"');

/**
 * Reads an event log from any `seq` on, as whole lines in batches of bytes, without a gap or a repeat, and ends with
 * the event that ends the run. Any number of readers may follow; none is felt by the writer.
 */
export async function* followEvents(log: ReadableFile, options: FollowOptions): AsyncGenerator<Uint8Array> {
  const waiter = options.wait ? waiterFor(log, options) : undefined;
  // Not for the many readers of a server: each would hold twice as much as it needs.
  const beside = options.reusesBuffers ? new BesideReader(log) : undefined;
  try {
    let { offset, toSkip } = startAfter(log, options.since ?? 0);
    let given: { from: number; lines: Uint8Array } = { from: offset, lines: new Uint8Array() };
    for (let turnMs = performance.now(); ; ) {
      if (performance.now() - turnMs > MAX_TURN_MS) {
        await nextTurn();
        turnMs = performance.now();
      }
      if (wasCut(log, offset)) ({ offset, toSkip } = startAfterCut(log, given));
      const read = (await beside?.readLines(offset)) ?? readLines(log, offset);
      if (read.length > 0) {
        given = { from: offset, lines: read };
        offset += read.length;
        const kept = skipLines(read, toSkip);
        const lines = read.subarray(kept.from);
        toSkip = kept.left;
        if (lines.length > 0) yield lines;
        if (waiter === undefined || !endsTheRun(read)) continue;
        await options.ended?.catch(() => {});
        // A retried or resumed run has events after its end, and they are already in the file.
        if (readLines(log, offset).length === 0) return;
        continue;
      }
      if (waiter === undefined || options.signal?.aborted) return;
      if ((await options.isAbandoned?.()) && readLines(log, offset).length === 0) return;
      await waiter.change();
    }
  } finally {
    waiter?.close();
  }
}

function waiterFor(log: ReadableFile, { signal, changes, recorded }: FollowOptions): ChangeWaiter {
  const waiter = waiterOf(changes ?? log.watched, { signal, afterMs: recorded && YOUNG_MS });
  void recorded?.then(() => waiter.notify());
  return waiter;
}

function waiterOf(
  watched: ChangeSource | string | undefined,
  options: { signal: AbortSignal | undefined; afterMs: number | undefined },
): ChangeWaiter {
  try {
    return new ChangeWaiter(watched, POLL_MS, options);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    // The run was packed or removed since its log was opened. The open file stays readable.
    return new ChangeWaiter(undefined, POLL_MS, options);
  }
}

/** All whole lines of a log, in batches. */
export function* wholeLines(log: ReadableFile): Generator<Uint8Array> {
  for (let offset = 0; ; ) {
    const lines = readLines(log, offset);
    if (lines.length === 0) return;
    yield lines;
    offset += lines.length;
  }
}

/** The events that a batch of whole lines holds, as objects. */
export function eventsIn(lines: Uint8Array): Record<string, unknown>[] {
  const events: Record<string, unknown>[] = [];
  const reader = new LineReader((line, start, end) => {
    events.push(parseEvent(Buffer.from(line.buffer, line.byteOffset + start, end - start).toString('utf8')));
  }, lines.length);
  reader.push(lines);
  return events;
}

/** How many events there are in a batch of whole lines. */
export function countLines(lines: Uint8Array): number {
  let count = 0;
  for (let at = lines.indexOf(LF); at !== -1; at = lines.indexOf(LF, at + 1)) count++;
  return count;
}

/**
 * Where to start to read the events after `since`, and how many lines are to be skipped from there. It is found by bisection, so that
 * reading on in a long log does not read what is before.
 */
function startAfter(log: ReadableFile, since: number): { offset: number; toSkip: number } {
  let start = { offset: 0, toSkip: since };
  if (since === 0) return start;
  let end = log.size;
  while (end - start.offset > CHUNK_BYTES) {
    const middle = Math.floor((start.offset + end) / 2);
    const line = firstLineAfter(log, middle);
    if (line === undefined) break;
    if (line.seq > since) end = middle;
    else start = { offset: line.offset, toSkip: since - line.seq + 1 };
  }
  return start;
}

/**
 * Where to read on in a log that was truncated below what was read. `given` is the last batch that was read: when a writer has taken back a
 * burst that it wrote in part, what is left of the batch is not given again. A log that was cut further, by another program, is read on
 * after the last `seq`.
 */
function startAfterCut(
  log: ReadableFile,
  given: { from: number; lines: Uint8Array },
): { offset: number; toSkip: number } {
  if (log.size < given.from || wasCut(log, given.from)) {
    const lastStart = given.lines.lastIndexOf(LF, given.lines.length - 2) + 1;
    return { offset: offsetAfter(log, seqOf(Buffer.from(given.lines.subarray(lastStart))) ?? 0), toSkip: 0 };
  }
  const now = readLines(log, given.from);
  let same = 0;
  while (same < now.length && now[same] === given.lines[same]) same++;
  return { offset: given.from + now.subarray(0, same).lastIndexOf(LF) + 1, toSkip: 0 };
}

/** Where the first event after a `seq` begins in a log that lacks some. */
function offsetAfter(log: ReadableFile, last: number): number {
  let offset = 0;
  for (const lines of wholeLines(log)) {
    for (let start = 0; start < lines.length; ) {
      const end = lines.indexOf(LF, start) + 1;
      if ((seqOf(Buffer.from(lines.subarray(start, end))) ?? 0) > last) return offset;
      offset += end - start;
      start = end;
    }
  }
  return offset;
}

/** The first line that begins after an offset; undefined when it is long, or was changed from outside. */
function firstLineAfter(log: ReadableFile, offset: number): { offset: number; seq: number } | undefined {
  const chunk = Buffer.allocUnsafe(PROBE_BYTES);
  const read = chunk.subarray(0, log.read(chunk, offset));
  const first = read.indexOf(LF) + 1;
  const end = read.indexOf(LF, first);
  if (first === 0 || end === -1) return undefined;
  const seq = seqOf(read.subarray(first, end));
  return seq === undefined ? undefined : { offset: offset + first, seq };
}

/** Undefined for a line that was changed from outside. */
function seqOf(line: Buffer): number | undefined {
  try {
    const { seq } = JSON.parse(line.toString('utf8'));
    return Number.isSafeInteger(seq) ? seq : undefined;
  } catch {
    return undefined;
  }
}

/** Whether another program has truncated the log below what was read of it: what is there now was written later. */
function wasCut(log: ReadableFile, offset: number): boolean {
  if (offset === 0) return false;
  const last = new Uint8Array(1);
  return log.read(last, offset - 1) === 0 || last[0] !== LF;
}

/** Reads for a reader that is far behind: much at once, on another thread, into two buffers in turn. */
class BesideReader {
  readonly #log: ReadableFile;
  /** That of the last batch and the one before. The follower compares with the last batch when a log is cut. */
  #buffers: [Buffer | undefined, Buffer | undefined] = [undefined, undefined];

  constructor(log: ReadableFile) {
    this.#log = log;
  }

  /** Whole lines from an offset on; undefined when there is little to read, or no whole line. */
  async readLines(offset: number): Promise<Uint8Array | undefined> {
    if (this.#log.readBeside === undefined || this.#log.size - offset < FAR_BEHIND_BYTES) return undefined;
    const [last, free] = this.#buffers;
    const buffer = free ?? Buffer.allocUnsafeSlow(FAR_BEHIND_BYTES);
    const count = await this.#log.readBeside(buffer, offset);
    const end = buffer.subarray(0, count).lastIndexOf(LF) + 1;
    if (end === 0) return undefined;
    this.#buffers = [buffer, last];
    return buffer.subarray(0, end);
  }
}

/** Whole lines from `offset` on, at least one if there is one, about a chunk at most. */
function readLines(log: ReadableFile, offset: number): Uint8Array {
  const leftBytes = log.size - offset;
  if (leftBytes <= 0) return new Uint8Array(0);
  // One byte more than there is shows that it was all. A large buffer takes the kernel longer than the read of a short log.
  for (let size = Math.min(CHUNK_BYTES, leftBytes + 1); ; size *= 4) {
    const buffer = Buffer.allocUnsafeSlow(size);
    const count = log.read(buffer, offset);
    const end = buffer.subarray(0, count).lastIndexOf(LF) + 1;
    if (end > 0 || count < size) return buffer.subarray(0, end);
  }
}

/** Where the lines after the first `count` begin, and how many are still to be skipped when there are fewer. */
function skipLines(lines: Uint8Array, count: number): { from: number; left: number } {
  let from = 0;
  for (let left = count; left > 0; left--) {
    if (from === lines.length) return { from, left };
    from = lines.indexOf(LF, from) + 1;
  }
  return { from, left: 0 };
}

/** Whether the last of these lines is the end of a run. */
export function endsTheRun(lines: Uint8Array): boolean {
  const lastStart = lines.lastIndexOf(LF, lines.length - 2) + 1;
  const last = Buffer.from(lines.buffer, lines.byteOffset + lastStart, lines.length - lastStart);
  // The words may also stand in an event that wraps another one.
  return last.includes(END_MARK) && parseEvent(last.toString('utf8')).type === 'runner_end';
}
