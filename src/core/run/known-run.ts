import type { CancelOptions } from '../ports/control-channel.ts';
import { endedRecord, followToEnd } from './follow-to-end.ts';
import { isLive } from './read-run.ts';
import type { RunSummary } from './run-summary.ts';
import { summaryOf } from './summarise-run.ts';
import type { RunHost } from './workspace.ts';

/** The run that an earlier call with the same idempotency key started, live or ended, whatever process supervises it. */
export class KnownRun {
  readonly isKnown = true;
  readonly runId: string;
  readonly #host: RunHost;
  #ended: Promise<RunSummary> | undefined;

  constructor(host: RunHost, runId: string) {
    this.#host = host;
    this.runId = runId;
  }

  /** Settles when the run has ended. Reading this property starts to follow the log. */
  get ended(): Promise<RunSummary> {
    this.#ended ??= this.#untilEnded();
    return this.#ended;
  }

  async cancel(reason: string, options: CancelOptions = {}): Promise<void> {
    const { store } = this.#host;
    if (await isLive(store, this.runId)) await store.control.requestCancel(this.runId, reason, options);
  }

  /** The stored events as bytes of whole lines, from the first event. */
  follow(signal?: AbortSignal): AsyncGenerator<Uint8Array> {
    const { store, workspaces } = this.#host;
    return followToEnd(store, this.runId, { since: 0, recoversIn: workspaces, signal });
  }

  async #untilEnded(): Promise<RunSummary> {
    for await (const _ of this.follow());
    const record = await endedRecord(this.#host, this.runId);
    return summaryOf(this.#host, this.runId, record);
  }
}
