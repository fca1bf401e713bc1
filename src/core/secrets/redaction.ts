import { NeedleAutomaton, ROOT } from './automaton.ts';
import { redactJsonLines } from './json-lines.ts';
import { needlesOf } from './needles.ts';
import { RedactedStream, type StreamSink } from './redacted-stream.ts';
import { Redactor } from './redactor.ts';
import type { Secret } from './secret.ts';
import { addSpan, type Span, spliced } from './spans.ts';

/**
 * Removes the values of some secrets, in all the encodings of contract §9, from data that passes through it. It
 * protects against accidents: a malicious tool can use an encoding that the redaction does not know.
 */
export class Redaction {
  readonly #automaton: NeedleAutomaton;

  /**
   * `unknown` are the names of secrets that the tool does not have. Of these only whole forms are redacted: a mark
   * for a beginning would confirm a guess.
   */
  constructor(secrets: readonly Secret[], unknown?: ReadonlySet<string>) {
    this.#automaton = new NeedleAutomaton(needlesOf(secrets), unknown);
  }

  /** Redacts a live stream; with `json`, its lines are JSON objects and stay valid. */
  pipe(options: { json: boolean }, sink: StreamSink): RedactedStream {
    return new RedactedStream(this.stream(options), sink);
  }

  /** For one stream of bytes. */
  stream(options: { json: boolean }): Redactor {
    if (!options.json) return new Redactor(this.#automaton);
    return new Redactor(this.#automaton, (lines, spans) => redactJsonLines(this, lines, spans));
  }

  /** The spans of secrets in complete bytes. */
  spansIn(bytes: Buffer): Span[] {
    const spans: Span[] = [];
    this.#automaton.scan(ROOT, bytes, 0, (to, length, name) =>
      addSpan(spans, { from: to - length, to, name }),
    );
    return spans;
  }

  /** Redacts lines of JSON objects. Returns the same bytes when they contain no secret. */
  line(bytes: Buffer): Buffer {
    return redactJsonLines(this, bytes, this.spansIn(bytes));
  }

  text(text: string): string {
    const bytes = Buffer.from(text);
    const spans = this.spansIn(bytes);
    return spans.length === 0 ? text : spliced(bytes, spans).toString('utf8');
  }

  /** How many bytes at the end of a text may be the beginning of a secret. */
  beginningAtEnd(text: string): number {
    return this.#automaton.depthOf(this.#automaton.scan(ROOT, Buffer.from(text), 0, () => {}));
  }

  /**
   * Redacts all texts of a JSON value, including keys; a number that is a secret becomes a text. Returns the same value
   * when it contains no secret.
   */
  data<T>(value: T): T {
    return this.#hidden(value) as T;
  }

  /** Searches data that arrives in chunks, and reports the secrets in it. */
  search(): (chunk: Buffer) => ReadonlySet<string> {
    const found = new Set<string>();
    let node = ROOT;
    return (chunk) => {
      node = this.#automaton.scan(node, chunk, 0, (_to, _length, name) => found.add(name));
      return found;
    };
  }

  #hidden(value: unknown): unknown {
    if (typeof value === 'string') return this.text(value);
    if (typeof value === 'number') {
      const text = this.text(String(value));
      return text === String(value) ? value : text;
    }
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) {
      const items = value.map((item) => this.#hidden(item));
      return items.every((item, index) => item === value[index]) ? value : items;
    }
    const entries = Object.entries(value);
    const hidden = entries.map(([key, field]) => [this.text(key), this.#hidden(field)] as const);
    const isSame = hidden.every(([key, field], at) => key === entries[at]![0] && field === entries[at]![1]);
    // Do not assign key by key: a field `__proto__` must stay an ordinary field.
    return isSame ? value : Object.fromEntries(hidden);
  }
}
