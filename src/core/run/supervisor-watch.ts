import { AcorError } from '../../protocol/acor-error.ts';
import { SEE_HEALTH } from '../../protocol/next-steps.ts';
import { pause } from '../../util/pause.ts';
import type { RunStore } from '../ports/run-store.ts';
import { endInLog, livenessOf } from './read-run.ts';

const ROUND_MS = 5;
/** A supervisor renews its lease every 10 s. One that does not for this long is stopped, or its event loop is blocked. */
const UNRESPONSIVE_MS = 30_000;

/**
 * Watches the supervisor of a run for a process that waits for it. The time since the last renewal is measured by this process, so
 * that a clock that was set does not count.
 */
export class SupervisorWatch {
  readonly #store: RunStore;
  readonly #runId: string;
  readonly #unresponsiveMs: number;
  #renewedMs: number | undefined;
  #sinceMs = performance.now();

  constructor(store: RunStore, runId: string, unresponsiveMs = UNRESPONSIVE_MS) {
    this.#store = store;
    this.#runId = runId;
    this.#unresponsiveMs = unresponsiveMs;
  }

  /** Whether no supervisor owns the run. Throws E_RUNNER_LOST when one does, and has stopped reacting. */
  async isGone(): Promise<boolean> {
    const { record, liveness } = await livenessOf(this.#store, this.#runId);
    if (liveness !== 'live') return true;
    const lease = await this.#store.leases.newest(this.#runId);
    const nowMs = performance.now();
    if (lease?.renewedMs !== this.#renewedMs) this.#sinceMs = nowMs;
    this.#renewedMs = lease?.renewedMs;
    const silentMs = nowMs - this.#sinceMs;
    if (silentMs < this.#unresponsiveMs) return false;
    const { pid } = record.supervisor;
    throw new AcorError(
      'E_RUNNER_LOST',
      `the supervisor of run ${this.#runId} has not reacted for ${Math.round(silentMs / 1000)} s: it is stopped, or its event loop is blocked`,
      {
        hint: `Look at process ${pid}. When it was stopped, continue it: kill -CONT ${pid}. Otherwise kill it: kill -KILL ${pid}; whatever starts or resumes a run next then ends this one as lost.`,
        next: [SEE_HEALTH],
      },
    );
  }
}

/**
 * Waits while the supervisor records an end that is in the log already: a follower of the log returns at its last event, before the
 * record and the lease show the end. Throws E_RUNNER_LOST when the supervisor does not react.
 */
export async function untilEndRecorded(store: RunStore, runId: string, signal?: AbortSignal): Promise<void> {
  if ((await endInLog(store, runId)) === undefined) return;
  const watch = new SupervisorWatch(store, runId);
  while (!signal?.aborted && !(await watch.isGone())) await pause(ROUND_MS);
}
