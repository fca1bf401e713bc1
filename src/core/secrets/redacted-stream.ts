import type { Redactor } from './redactor.ts';

/** The maximum delay of a line that may be the beginning of a secret. */
const MAX_HOLD_MS = 50;

/** The next consumer of the stream; `later` schedules work outside of the stream's own turn. */
export interface StreamSink {
  pass(bytes: Buffer): void;
  later(work: () => void): void;
}

/** Redacts a live stream. */
export class RedactedStream {
  readonly #redactor: Redactor;
  readonly #sink: StreamSink;
  #timer: NodeJS.Timeout | undefined;

  constructor(redactor: Redactor, sink: StreamSink) {
    this.#redactor = redactor;
    this.#sink = sink;
  }

  push(bytes: Uint8Array): void {
    this.#pass(this.#redactor.push(bytes));
    if (!this.#redactor.holdsLine) this.close();
    else this.#timer ??= setTimeout(() => this.#sink.later(() => this.#release()), MAX_HOLD_MS);
  }

  /** The stream has ended: passes on the held data. */
  end(): void {
    this.close();
    this.#pass(this.#redactor.end());
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #release(): void {
    this.close();
    this.#pass(this.#redactor.release());
  }

  #pass(bytes: Buffer): void {
    if (bytes.length > 0) this.#sink.pass(bytes);
  }
}
