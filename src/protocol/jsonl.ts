/** The longest line that is kept whole (contract §1). */
export const MAX_LINE_BYTES = 1_048_576;

/**
 * Receives one line: `bytes[start..end)` without its line ending. The array is only valid during the call.
 * `cut` means that the line was longer than the limit and its rest was dropped. What it returns counts for `unkept`.
 */
export type OnLine = (bytes: Uint8Array, start: number, end: number, cut: boolean) => unknown;

/** Takes many lines of a chunk at once. */
export interface LineTaker {
  /** The next chunk, which stays unchanged until the one after it. */
  begin(bytes: Uint8Array): void;
  /** Takes whole lines from an offset on, and returns where the first line begins that it leaves to `onLine`. */
  take(from: number): number;
}

interface LineReaderOptions {
  keepsEmpty?: boolean;
  taker?: LineTaker;
  /**
   * Receives the bytes of all lines, with their endings and beyond the limit, but for those that the taker took and those for which `onLine`
   * returned true.
   */
  unkept?: (bytes: Uint8Array, start: number, end: number) => void;
}

const LF = 10;
const CR = 13;

/**
 * Splits bytes into lines: any chunking, LF or CRLF, with or without a last newline. Empty lines are dropped unless
 * requested. Memory is bounded by one line. It works on bytes, so NUL and invalid UTF-8 pass through.
 */
export class LineReader {
  readonly #onLine: OnLine;
  readonly #maxBytes: number;
  /** The minimum length of a reported line. */
  readonly #leastBytes: number;
  readonly #taker: LineTaker | undefined;
  readonly #unkept: LineReaderOptions['unkept'];
  #held: Uint8Array;
  #heldBytes = 0;
  #cut = false;

  constructor(onLine: OnLine, maxBytes: number = MAX_LINE_BYTES, options: LineReaderOptions = {}) {
    this.#onLine = onLine;
    this.#maxBytes = maxBytes;
    this.#taker = options.taker;
    this.#unkept = options.unkept;
    this.#leastBytes = options.keepsEmpty ? 0 : 1;
    this.#held = new Uint8Array(Math.min(maxBytes, 4096));
  }

  /** Takes the next bytes; calls back for each complete line. */
  push(chunk: Uint8Array): void {
    let from = 0;
    if (this.#heldBytes > 0 || this.#cut) {
      const newline = chunk.indexOf(LF);
      this.#hold(chunk, 0, newline === -1 ? chunk.length : newline);
      if (newline === -1) return;
      if (!this.#release()) this.#unkept?.(chunk, newline, newline + 1);
      from = newline + 1;
    }
    this.#taker?.begin(chunk);
    for (;;) {
      if (this.#taker !== undefined) from = this.#taker.take(from);
      const newline = chunk.indexOf(LF, from);
      if (newline === -1) break;
      this.#emit(chunk, from, newline);
      from = newline + 1;
    }
    if (from < chunk.length) this.#hold(chunk, from, chunk.length);
  }

  /** The stream has ended: the held bytes are the last line. */
  end(): void {
    if (this.#heldBytes > 0 || this.#cut) this.#release();
  }

  #emit(bytes: Uint8Array, start: number, end: number): void {
    const stop = end > start && bytes[end - 1] === CR ? end - 1 : end;
    const cut = stop - start > this.#maxBytes;
    const isKept =
      stop - start >= this.#leastBytes &&
      this.#onLine(bytes, start, cut ? start + this.#maxBytes : stop, cut) === true;
    if (!isKept) this.#unkept?.(bytes, start, end + 1);
  }

  #hold(bytes: Uint8Array, start: number, end: number): void {
    // One byte more than the limit is kept, so that a line of exactly the limit with a CR is not reported as cut.
    const room = this.#maxBytes + 1 - this.#heldBytes;
    const count = Math.min(end - start, room);
    if (count < end - start) {
      // A cut line is never kept: what was held back of it comes first.
      if (!this.#cut) this.#unkept?.(this.#held, 0, this.#heldBytes);
      this.#cut = true;
    }
    if (this.#cut) this.#unkept?.(bytes, start, end);
    const needed = this.#heldBytes + count;
    if (needed > this.#held.length) {
      const grown = new Uint8Array(Math.min(this.#maxBytes + 1, Math.max(needed, this.#held.length * 2)));
      grown.set(this.#held.subarray(0, this.#heldBytes));
      this.#held = grown;
    }
    this.#held.set(bytes.subarray(start, start + count), this.#heldBytes);
    this.#heldBytes = needed;
  }

  /** Passes on the held line; true when its bytes are kept. */
  #release(): boolean {
    const bytes = this.#held;
    const heldBytes = this.#heldBytes;
    const wasCut = this.#cut;
    let end = heldBytes;
    let cut = wasCut;
    this.#heldBytes = 0;
    this.#cut = false;
    if (!cut && end > 0 && bytes[end - 1] === CR) end--;
    if (end > this.#maxBytes) {
      end = this.#maxBytes;
      cut = true;
    }
    const isKept = end >= this.#leastBytes && this.#onLine(bytes, 0, end, cut) === true;
    if (!isKept && !wasCut) this.#unkept?.(bytes, 0, heldBytes);
    return isKept;
  }
}
