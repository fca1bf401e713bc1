import { redactionMark } from '../../protocol/redaction-mark.ts';

/** A part of some bytes that is a secret's; `to` is not part of it. */
export interface Span {
  from: number;
  to: number;
  name: string;
}

/** Adds a span that ends no earlier than those before it; spans that overlap become one, under the name of the first of them. */
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

/** The spans of a part, counted from its start; those that reach beyond it are cut. */
export function spansWithin(spans: readonly Span[], from: number, to: number): Span[] {
  return spans
    .filter((span) => span.to > from && span.from < to)
    .map(({ name, ...span }) => ({
      from: Math.max(0, span.from - from),
      to: Math.min(to, span.to) - from,
      name,
    }));
}

/** The bytes with a mark in the place of each span. */
export function spliced(bytes: Buffer, spans: readonly Span[]): Buffer {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const span of spansWithin(spans, 0, bytes.length)) {
    pieces.push(bytes.subarray(at, span.from), Buffer.from(redactionMark(span.name)));
    at = span.to;
  }
  return pieces.length === 0 ? bytes : Buffer.concat([...pieces, bytes.subarray(at)]);
}
