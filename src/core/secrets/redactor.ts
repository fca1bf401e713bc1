import { MAX_LINE_BYTES } from '../../protocol/jsonl.ts';
import { type NeedleAutomaton, ROOT } from './automaton.ts';
import { MIN_SECRET_BYTES } from './secret.ts';
import { addSpan, type Span, spansWithin, spliced } from './spans.ts';

/** Redacts whole lines; `spans` are the plain forms that were found. */
export type RedactLines = (lines: Buffer, spans: readonly Span[]) => Buffer;

const LF = 10;

/**
 * Redacts one stream, however it is cut into chunks. It holds back bytes that may be the beginning of a secret and, for
 * streams of whole lines, an incomplete last line.
 */
export class Redactor {
  readonly #automaton: NeedleAutomaton;
  readonly #redactLines: RedactLines | undefined;
  #node = ROOT;
  /** The held bytes, at the start of a larger buffer. */
  #buffer = Buffer.alloc(0);
  #heldBytes = 0;
  #spans: Span[] = [];
  /** So many of the held bytes have no line end: a long line in small pieces is searched once. */
  #searchedBytes = 0;
  /** The beginning of this line was already passed on, because the line is too long. */
  #isMidLine = false;

  constructor(automaton: NeedleAutomaton, redactLines?: RedactLines) {
    this.#automaton = automaton;
    this.#redactLines = redactLines;
  }

  /** Whether a whole line is held back. */
  get holdsLine(): boolean {
    return this.#heldBytes > 0 && this.#held().includes(LF);
  }

  /** Takes the next bytes and returns the bytes to pass on; these are valid until the next call. */
  push(chunk: Uint8Array): Buffer {
    const isFresh = this.#heldBytes === 0;
    const data = isFresh ? bufferOf(chunk) : this.#append(chunk);
    this.#node = this.#automaton.scan(this.#node, data, data.length - chunk.length, (to, length, name) =>
      addSpan(this.#spans, { from: Math.max(0, to - length), to, name }),
    );
    return this.#passOn(data, this.#sureEnd(data), isFresh);
  }

  /**
   * Passes on held whole lines, so that no reader waits for ever. Half a secret is redacted, and its rest is still
   * found if it follows.
   */
  release(): Buffer {
    const data = this.#held();
    this.#markBeginning(data);
    return this.#passOn(data, lineStartAt(data, data.length), false);
  }

  /** Passes on all that is held, so that no reader waits for ever. The rest of a secret is still found if it follows. */
  flush(): Buffer {
    const data = this.#held();
    this.#markBeginning(data);
    return this.#passOn(data, data.length, false);
  }

  /** The stream has ended: returns the held bytes. */
  end(): Buffer {
    const data = this.flush();
    this.#node = ROOT;
    return data;
  }

  #held(): Buffer {
    return this.#buffer.subarray(0, this.#heldBytes);
  }

  #append(chunk: Uint8Array): Buffer {
    this.#reserve(this.#heldBytes + chunk.length);
    this.#buffer.set(chunk, this.#heldBytes);
    this.#heldBytes += chunk.length;
    return this.#held();
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#buffer.length) return;
    const grown = Buffer.alloc(Math.max(bytes, this.#buffer.length * 2, 4096));
    this.#buffer.copy(grown, 0, 0, this.#heldBytes);
    this.#buffer = grown;
  }

  /** Half a secret at the end is redacted if it is long enough to recognise. */
  #markBeginning(data: Buffer): void {
    const beginning = this.#automaton.beginningAt(this.#node);
    if (beginning === undefined || beginning.length < MIN_SECRET_BYTES || data.length === 0) return;
    const { length, name } = beginning;
    addSpan(this.#spans, { from: Math.max(0, data.length - length), to: data.length, name });
  }

  /** The end of the bytes that no later byte can change. */
  #sureEnd(data: Buffer): number {
    const sure = this.#outsideSpans(Math.max(0, data.length - this.#automaton.depthOf(this.#node)));
    if (this.#redactLines === undefined) return sure;
    if (this.#isMidLine && !data.subarray(0, sure).includes(LF)) return sure;
    let end = this.#lineStart(data, sure);
    for (let start = this.#outsideSpans(end); start !== end; start = this.#outsideSpans(end)) {
      end = lineStartAt(data, start);
    }
    if (end > 0 || data.length <= MAX_LINE_BYTES) return end;
    this.#isMidLine = sure > 0;
    return sure;
  }

  /** The start of the line that contains a position. */
  #lineStart(data: Buffer, place: number): number {
    const from = Math.min(this.#searchedBytes, place);
    const newline = data.subarray(from, place).lastIndexOf(LF);
    if (newline !== -1) return from + newline + 1;
    this.#searchedBytes = place;
    return 0;
  }

  /** The position, or the start of the span that contains it. */
  #outsideSpans(place: number): number {
    if (place === 0) return 0;
    let outside = place;
    for (let i = this.#spans.length - 1; i >= 0 && this.#spans[i]!.to > outside; i--) {
      outside = Math.min(outside, this.#spans[i]!.from);
    }
    return outside;
  }

  /**
   * Returns the data up to `end` without secrets, and keeps the rest; `isFresh` means that the data is not in the own
   * buffer.
   */
  #passOn(data: Buffer, end: number, isFresh: boolean): Buffer {
    if (end === 0 && !isFresh) return data.subarray(0, 0);
    this.#searchedBytes = 0;
    const out = this.#redacted(data, end);
    const rest = data.subarray(end);
    // The rest is moved to the start of the own buffer.
    const kept = isFresh || rest.length === 0 ? out : Buffer.from(out);
    if (isFresh) this.#reserve(rest.length);
    rest.copy(this.#buffer);
    this.#heldBytes = rest.length;
    this.#spans = spansWithin(this.#spans, end, data.length);
    return kept;
  }

  #redacted(data: Buffer, end: number): Buffer {
    if (this.#redactLines === undefined) return spliced(data.subarray(0, end), this.#spans);
    const at = this.#isMidLine ? this.#endOfLongLine(data, end) : 0;
    const lines = this.#redactLines(data.subarray(at, end), spansWithin(this.#spans, at, end));
    return at === 0 ? lines : Buffer.concat([spliced(data.subarray(0, at), this.#spans), lines]);
  }

  #endOfLongLine(data: Buffer, end: number): number {
    const newline = data.subarray(0, end).indexOf(LF);
    this.#isMidLine = newline === -1;
    return newline === -1 ? end : newline + 1;
  }
}

/** The start of the line that contains a position. */
function lineStartAt(data: Buffer, place: number): number {
  return place === 0 ? 0 : data.lastIndexOf(LF, place - 1) + 1;
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
