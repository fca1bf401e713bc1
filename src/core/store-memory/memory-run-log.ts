import { AcorError } from '../../protocol/acor-error.ts';
import { keepWarning } from '../../protocol/v1/first-warnings.ts';
import type { Seal } from '../../protocol/v1/runner-events.ts';
import { PROTOCOL_VERSION, type StoredEvent } from '../../protocol/v1/wire.ts';
import { errorMessage } from '../../util/error-code.ts';
import { nextTurn } from '../../util/pause.ts';
import type { RunObserver } from '../ports/run-observer.ts';
import type { LogExtent, NewEvent, ReadEvent, RedactLine, RunLog } from '../ports/run-store.ts';
import { SealBuilder } from '../store-files/seal.ts';

const LF = 10;

/** The stored events of one run, and the followers that wait for more. */
export class StoredLines {
  readonly lines: Buffer[] = [];
  #wake: (() => void)[] = [];

  add(lines: readonly Buffer[]): void {
    this.lines.push(...lines);
    for (const wake of this.#wake.splice(0)) wake();
  }

  /** Settles when there are more events, or after a timeout, so that the follower can check whether to stop. */
  more(atMostMs: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, atMostMs);
      this.#wake.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  extent(): LogExtent {
    return { events: this.lines.length, bytes: this.lines.reduce((sum, line) => sum + line.length, 0) };
  }

  *newestFirst(): Generator<ReadEvent> {
    for (let at = this.lines.length - 1; at >= 0; at--) yield parse(this.lines[at]!);
  }

  events(): ReadEvent[] {
    return this.lines.map(parse);
  }
}

/** The log of a run in memory, for its only writer. */
export class MemoryRunLog implements RunLog {
  readonly #runId: string;
  readonly #stored: StoredLines;
  readonly #mayWrite: () => boolean;
  readonly #seal = new SealBuilder();
  readonly #observers: RunObserver[] = [];
  #pending: Buffer[] = [];
  /** The number of lines that are being stored. */
  #inFlight = 0;
  #storing: Promise<void> = Promise.resolve();
  #storedBytes = 0;
  #hasDropped = false;
  /** Whether the end of the run is in the log, or buffered. */
  #hasEnd = false;
  readonly #warnings: string[] = [];
  #redact: RedactLine = (line) => line;

  constructor(runId: string, stored: StoredLines, mayWrite: () => boolean) {
    this.#runId = runId;
    this.#stored = stored;
    this.#mayWrite = mayWrite;
    for (const line of stored.lines) this.#account(line);
  }

  get events(): number {
    return this.#stored.lines.length + this.#inFlight + this.#pending.length;
  }

  get bytes(): number {
    return this.#pending.reduce((sum, line) => sum + line.length, this.#storedBytes);
  }

  get hasDropped(): boolean {
    return this.#hasDropped;
  }

  get warnings(): readonly string[] {
    return this.#warnings;
  }

  append(event: NewEvent): StoredEvent {
    if (this.#hasEnd) throw new Error('Internal: an event after the end of the run');
    this.#hasEnd = event.type === 'runner_end';
    keepWarning(this.#warnings, event);
    const ts = new Date().toISOString();
    const envelope = { v: PROTOCOL_VERSION, type: event.type, ts, run_id: this.#runId };
    const stored: StoredEvent = { ...envelope, ...event, seq: this.events + 1 };
    this.#pending.push(this.#redact(Buffer.from(`${JSON.stringify(stored)}\n`)));
    return stored;
  }

  keepLine(bytes: Uint8Array, start: number, end: number): void {
    const head = Buffer.from(bytes.subarray(start, end - 1));
    this.#pending.push(Buffer.concat([head, Buffer.from(`,"seq":${this.events + 1}}\n`)]));
  }

  keepLines(lines: Uint8Array): void {
    for (let start = 0; start < lines.length; ) {
      const end = lines.indexOf(LF, start) + 1;
      this.#pending.push(Buffer.from(lines.subarray(start, end)));
      start = end;
    }
  }

  flush(): Promise<void> {
    const lines = this.#pending.splice(0);
    this.#inFlight += lines.length;
    // Like a remote storage: the buffered events are not stored yet when this returns.
    const storing = this.#storing.then(() => this.#store(lines));
    this.#storing = storing.catch(() => {});
    return storing;
  }

  sync(): Promise<void> {
    return this.flush();
  }

  async #store(lines: readonly Buffer[]): Promise<void> {
    await nextTurn();
    this.#inFlight -= lines.length;
    if (lines.length === 0) return;
    if (!this.#mayWrite()) {
      this.#hasDropped = true;
      this.#hasEnd = false;
      throw superseded();
    }
    for (const line of lines) this.#account(line);
    this.#stored.add(lines);
    for (const observer of [...this.#observers]) this.#show(observer, Buffer.concat(lines));
  }

  discardPending(): void {
    this.#hasDropped ||= this.#pending.length > 0;
    if (this.#pending.length > 0) this.#hasEnd = false;
    this.#pending = [];
  }

  seal(): Seal {
    return this.#seal.seal();
  }

  redactWith(redact: RedactLine): void {
    this.#redact = redact;
  }

  observe(observer: RunObserver): void {
    this.#observers.push(observer);
  }

  async *tail(): AsyncGenerator<ReadEvent> {
    yield* this.#stored.newestFirst();
  }

  async assertUntouched(): Promise<void> {}

  #account(line: Buffer): void {
    this.#seal.update(line);
    this.#storedBytes += line.length;
  }

  #show(observer: RunObserver, lines: Buffer): void {
    try {
      observer.stored(lines);
    } catch (error) {
      this.#observers.splice(this.#observers.indexOf(observer), 1);
      if (!this.#hasEnd)
        this.append({ type: 'runner_warning', msg: `an observer of the run failed: ${errorMessage(error)}` });
    }
  }
}

/** E_STORAGE: a write of a past epoch is refused. */
export function superseded(): AcorError {
  return new AcorError('E_STORAGE', 'another supervisor has taken over this run');
}

function parse(line: Buffer): ReadEvent {
  return JSON.parse(line.toString('utf8'));
}
