import type { RunStore } from '../ports/run-store.ts';
import { endedRecord, followToEnd } from './follow-to-end.ts';
import { isLive } from './liveness.ts';
import type { RunSummary } from './run-summary.ts';
import { summaryOf } from './run-summary.ts';

/** The run that an earlier call with the same idempotency key started, live or ended, whatever process supervises it. */
export class KnownRun {
  readonly runId: string;
  readonly #store: RunStore;
  #ended: Promise<RunSummary> | undefined;

  constructor(store: RunStore, runId: string) {
    this.#store = store;
    this.runId = runId;
  }

  /** Settles when the run is over. The log is followed only when this is read. */
  get ended(): Promise<RunSummary> {
    this.#ended ??= this.#untilEnded();
    return this.#ended;
  }

  async cancel(reason: string, options: { force?: boolean } = {}): Promise<void> {
    if (await isLive(this.#store, this.runId))
      await this.#store.control.requestCancel(this.runId, reason, options);
  }

  /** The stored events as bytes of whole lines, from the first one on. */
  follow(signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    return followToEnd(this.#store, this.runId, { since: 0, recovers: true, signal });
  }

  async #untilEnded(): Promise<RunSummary> {
    for await (const _ of this.follow());
    const record = await endedRecord(this.#store, this.runId);
    return summaryOf(this.#store, this.runId, record);
  }
}
