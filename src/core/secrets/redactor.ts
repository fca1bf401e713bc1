import { MAX_LINE_BYTES } from '../../protocol/jsonl.ts';
import { type NeedleAutomaton, ROOT } from './automaton.ts';
import { MIN_SECRET_BYTES } from './secret.ts';
import { addSpan, type Span, spansWithin, spliced } from './spans.ts';

/** Takes the secrets out of whole lines; `spans` is where their plain forms are. */
export type RedactLines = (lines: Buffer, spans: readonly Span[]) => Buffer;

const LF = 10;

/**
 * Takes the secrets out of one stream, however it is cut into chunks. Held back is what may still turn out to be the
 * beginning of a secret and, where whole lines are looked at, a last line that has no end yet.
 */
export class Redactor {
  readonly #automaton: NeedleAutomaton;
  readonly #redactLines: RedactLines | undefined;
  #node = ROOT;
  /** What has come and not gone on: the first bytes of a larger buffer. */
  #buffer = Buffer.alloc(0);
  #heldBytes = 0;
  #spans: Span[] = [];
  /** The beginning of this line has gone on: it was too long to be held. */
  #isMidLine = false;

  constructor(automaton: NeedleAutomaton, redactLines?: RedactLines) {
    this.#automaton = automaton;
    this.#redactLines = redactLines;
  }

  /** Whether a whole line is held back. */
  get holdsLine(): boolean {
    return this.#heldBytes > 0 && this.#held().includes(LF);
  }

  /** Takes the next bytes, and returns those that can go on; they are valid until the next call. */
  push(chunk: Uint8Array): Buffer {
    const isFresh = this.#heldBytes === 0;
    const data = isFresh ? bufferOf(chunk) : this.#append(chunk);
    this.#node = this.#automaton.scan(this.#node, data, data.length - chunk.length, (to, length, name) =>
      addSpan(this.#spans, { from: Math.max(0, to - length), to, name }),
    );
    return this.#passOn(data, this.#sureEnd(data), isFresh);
  }

  /**
   * Lets whole lines go that are held back, so that no reader waits for them for ever. What could be half a secret is marked as
   * one, and the rest of it is still found if it follows.
   */
  release(): Buffer {
    const data = this.#held();
    this.#markBeginning(data);
    return this.#passOn(data, lineStartAt(data, data.length), false);
  }

  /** The stream has ended: returns what is left. */
  end(): Buffer {
    const data = this.#held();
    this.#markBeginning(data);
    this.#node = ROOT;
    return this.#passOn(data, data.length, false);
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

  /** Half a secret at the end counts as one, if it is long enough to recognise. */
  #markBeginning(data: Buffer): void {
    const depth = this.#automaton.depthOf(this.#node);
    if (depth < MIN_SECRET_BYTES || data.length === 0) return;
    const name = this.#automaton.nameOf(this.#node);
    addSpan(this.#spans, { from: Math.max(0, data.length - depth), to: data.length, name });
  }

  /** Up to where no byte to come can change what goes on. */
  #sureEnd(data: Buffer): number {
    const sure = this.#outsideSpans(Math.max(0, data.length - this.#automaton.depthOf(this.#node)));
    if (this.#redactLines === undefined) return sure;
    if (this.#isMidLine && !data.subarray(0, sure).includes(LF)) return sure;
    let end = lineStartAt(data, sure);
    for (let start = this.#outsideSpans(end); start !== end; start = this.#outsideSpans(end)) {
      end = lineStartAt(data, start);
    }
    if (end > 0 || data.length <= MAX_LINE_BYTES) return end;
    this.#isMidLine = sure > 0;
    return sure;
  }

  /** The place itself, or the start of the span that it would cut. */
  #outsideSpans(place: number): number {
    let outside = place;
    for (let i = this.#spans.length - 1; i >= 0 && this.#spans[i]!.to > outside; i--) {
      outside = Math.min(outside, this.#spans[i]!.from);
    }
    return outside;
  }

  /** Hands on the data up to `end` without its secrets, and keeps the rest; `isFresh` when the data is not in the own buffer. */
  #passOn(data: Buffer, end: number, isFresh: boolean): Buffer {
    const out = this.#redacted(data, end);
    const rest = data.subarray(end);
    // The own buffer is moved up at once.
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

/** Where the line begins in which a place lies. */
function lineStartAt(data: Buffer, place: number): number {
  return place === 0 ? 0 : data.lastIndexOf(LF, place - 1) + 1;
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
}
