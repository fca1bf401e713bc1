import { requestCancel } from '../store-files/cancel-request.ts';
import type { RunLayout } from '../store-files/layout.ts';
import { isLive } from '../store-files/lost-runs.ts';
import type { RunStore } from '../store-files/run-store.ts';
import { followToEnd } from './follow-to-end.ts';
import { recoverIfLost } from './recover-lost-run.ts';
import type { RunSummary } from './run-summary.ts';
import { summaryOf } from './run-summary.ts';

/** The run that an earlier call with the same idempotency key started, live or ended, whatever process supervises it. */
export class KnownRun {
  readonly runId: string;
  readonly layout: RunLayout;
  readonly #store: RunStore;
  #ended: Promise<RunSummary> | undefined;

  constructor(store: RunStore, runId: string) {
    this.#store = store;
    this.runId = runId;
    this.layout = store.layout(runId);
  }

  /** Settles when the run is over. The log is followed only when this is read. */
  get ended(): Promise<RunSummary> {
    this.#ended ??= this.#untilEnded();
    return this.#ended;
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
    const record = await recoverIfLost(this.#store, this.#store.read(this.runId));
    return summaryOf(this.#store, this.runId, record);
  }
}
