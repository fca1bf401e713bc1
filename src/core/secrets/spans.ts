import { redactionMark } from '../../protocol/redaction-mark.ts';

/** A range of bytes that belongs to a secret; `to` is exclusive. */
export interface Span {
  from: number;
  to: number;
  name: string;
}

/**
 * Adds a span that ends no earlier than the existing ones. Overlapping spans are merged under the name of the first.
 */
export function addSpan(spans: Span[], added: Span): void {
  const span = { ...added };
  for (let last = spans.at(-1); last !== undefined && last.to > span.from; last = spans.at(-1)) {
    spans.pop();
    if (last.from >= span.from) continue;
    span.from = last.from;
    span.name = last.name;
  }
  spans.push(span);
}

/** The spans inside a range, relative to its start and cut at its ends. */
export function spansWithin(spans: readonly Span[], from: number, to: number): Span[] {
  return spans
    .filter((span) => span.to > from && span.from < to)
    .map(({ name, ...span }) => ({
      from: Math.max(0, span.from - from),
      to: Math.min(to, span.to) - from,
      name,
    }));
}

/** The bytes with each span replaced by a mark. */
export function spliced(bytes: Buffer, spans: readonly Span[]): Buffer {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const span of spansWithin(spans, 0, bytes.length)) {
    pieces.push(bytes.subarray(at, span.from), Buffer.from(redactionMark(span.name)));
    at = span.to;
  }
  return pieces.length === 0 ? bytes : Buffer.concat([...pieces, bytes.subarray(at)]);
}

/** The bytes with each span overwritten, so that their length stays. */
export function covered(bytes: Buffer, spans: readonly Span[]): Buffer {
  const within = spansWithin(spans, 0, bytes.length);
  if (within.length === 0) return bytes;
  const copy = Buffer.from(bytes);
  for (const { from, to } of within) copy.fill('*', from, to);
  return copy;
}
