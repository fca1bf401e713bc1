import { requestCancel } from '../storage/cancel-request.ts';
import type { RunLayout } from '../storage/layout.ts';
import { isLive } from '../storage/lost-runs.ts';
import type { RunStore } from '../storage/run-store.ts';
import { followToEnd } from './follow-to-end.ts';
import type { RunSummary } from './run.ts';
import { settleIfLost } from './settle-lost.ts';
import { summaryOf } from './summary-of.ts';

/** A run that was asked for with a key that has a run already: that one, whoever supervises it, and whether it has ended or not. */
export class KnownRun {
  readonly runId: string;
  readonly layout: RunLayout;
  /** Settles when the run is over. */
  readonly ended: Promise<RunSummary>;
  readonly #store: RunStore;

  constructor(store: RunStore, runId: string) {
    this.#store = store;
    this.runId = runId;
    this.layout = store.layout(runId);
    this.ended = this.#untilEnded();
  }

  cancel(reason: string, options: { now?: boolean } = {}): void {
    if (isLive(this.#store.read(this.runId))) requestCancel(this.layout, reason, options);
  }

  /** The stored events as bytes of whole lines, from the first one on. */
  follow(signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    return followToEnd(this.#store, this.runId, { since: 0, ...(signal && { signal }) });
  }

  async #untilEnded(): Promise<RunSummary> {
    for await (const _ of this.follow());
    await settleIfLost(this.#store, this.#store.read(this.runId));
    return summaryOf(this.#store, this.runId);
  }
}
