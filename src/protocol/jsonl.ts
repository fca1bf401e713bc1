/** The longest line that is kept whole (contract §1). */
export const MAX_LINE_BYTES = 1_048_576;

/**
 * Receives one line: `bytes[start..end)` without its line ending. The array is only valid during the call.
 * `cut` means that the line was longer than the limit and its rest was dropped.
 */
export type OnLine = (bytes: Uint8Array, start: number, end: number, cut: boolean) => void;

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
  #held: Uint8Array;
  #heldBytes = 0;
  #cut = false;

  constructor(onLine: OnLine, maxBytes: number = MAX_LINE_BYTES, options: { keepsEmpty?: boolean } = {}) {
    this.#onLine = onLine;
    this.#maxBytes = maxBytes;
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
      this.#release();
      from = newline + 1;
    }
    for (;;) {
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
    if (stop - start >= this.#leastBytes)
      this.#onLine(bytes, start, cut ? start + this.#maxBytes : stop, cut);
  }

  #hold(bytes: Uint8Array, start: number, end: number): void {
    // One byte more than the limit is kept, so that a line of exactly the limit with a CR is not reported as cut.
    const room = this.#maxBytes + 1 - this.#heldBytes;
    const count = Math.min(end - start, room);
    if (count < end - start) this.#cut = true;
    const needed = this.#heldBytes + count;
    if (needed > this.#held.length) {
      const grown = new Uint8Array(Math.min(this.#maxBytes + 1, Math.max(needed, this.#held.length * 2)));
      grown.set(this.#held.subarray(0, this.#heldBytes));
      this.#held = grown;
    }
    this.#held.set(bytes.subarray(start, start + count), this.#heldBytes);
    this.#heldBytes = needed;
  }

  #release(): void {
    const bytes = this.#held;
    let end = this.#heldBytes;
    let cut = this.#cut;
    this.#heldBytes = 0;
    this.#cut = false;
    if (!cut && end > 0 && bytes[end - 1] === CR) end--;
    if (end > this.#maxBytes) {
      end = this.#maxBytes;
      cut = true;
    }
    if (end >= this.#leastBytes) this.#onLine(bytes, 0, end, cut);
  }
}
