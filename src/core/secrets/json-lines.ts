import { redactionMark } from '../../protocol/redaction-mark.ts';
import { type Span, spansWithin, spliced } from './spans.ts';

/** Redacts secrets in a value, and finds them in bytes. */
interface Redaction {
  data<T>(value: T): T;
  spansIn(bytes: Buffer): Span[];
}

const LF = 10;
const BACKSLASH = 92;
const OPEN_BRACE = 123;

/**
 * Redacts whole lines; `spans` are the plain forms that were found. A JSON line stays valid JSON. In a line with a
 * backslash, this also finds secrets with single escaped characters.
 */
export function redactJsonLines(redaction: Redaction, lines: Buffer, spans: readonly Span[]): Buffer {
  const pieces: Buffer[] = [];
  let at = 0;
  let next = 0;
  let backslash = lines.indexOf(BACKSLASH);
  while (next < spans.length || backslash !== -1) {
    const firstEscape = backslash === -1 ? lines.length : backslash;
    const place = Math.min(spans[next]?.from ?? lines.length, firstEscape);
    const first = next;
    let end = lineEndAt(lines, place);
    // A secret that spans several lines turns them into one.
    for (; next < spans.length && spans[next]!.from < end; next++) {
      const { to } = spans[next]!;
      if (to > end) end = lineEndAt(lines, to - 1);
    }
    const start = place === 0 ? 0 : lines.lastIndexOf(LF, place - 1) + 1;
    const own = spansWithin(spans.slice(first, next), start, end);
    pieces.push(lines.subarray(at, start), redactJsonLine(redaction, lines.subarray(start, end), own));
    at = end;
    if (firstEscape < at) backslash = lines.indexOf(BACKSLASH, at);
  }
  return pieces.length === 0 ? lines : Buffer.concat([...pieces, lines.subarray(at)]);
}

function redactJsonLine(redaction: Redaction, line: Buffer, spans: readonly Span[]): Buffer {
  const masked = spliced(line, spans);
  if (line[0] !== OPEN_BRACE) return masked;
  const written = parse(masked);
  if (written !== undefined && redaction.data(written) === written) return masked;
  const original = parse(line);
  if (original === undefined) return masked;
  const hidden = redaction.data(original);
  const free = redaction.spansIn(jsonOf(hidden)).length === 0 ? hidden : withoutFields(redaction, hidden);
  return Buffer.concat([jsonOf(free), line.at(-1) === LF ? Buffer.from('\n') : Buffer.alloc(0)]);
}

/**
 * For a secret that is more than a text: fields that contain it are redacted as a whole; if it spans fields, the whole
 * object is.
 */
function withoutFields(redaction: Redaction, message: object): unknown {
  const fields = Object.entries(message).map(([key, value]) => [key, markIfHidden(redaction, value)]);
  return markIfHidden(redaction, Object.fromEntries(fields));
}

function markIfHidden(redaction: Redaction, value: unknown): unknown {
  const [span] = redaction.spansIn(jsonOf(value));
  return span === undefined ? value : redactionMark(span.name);
}

function jsonOf(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function lineEndAt(lines: Buffer, place: number): number {
  const newline = lines.indexOf(LF, place);
  return newline === -1 ? lines.length : newline + 1;
}

/** The object of a JSON line; undefined for anything else, or for an object nested too deeply. */
function parse(line: Buffer): object | undefined {
  try {
    return JSON.parse(line.toString('utf8'));
  } catch {
    return undefined;
  }
}
