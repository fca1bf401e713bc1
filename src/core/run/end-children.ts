import type { RunStore } from '../ports/run-store.ts';
import { childrenOf } from './child-runs.ts';
import { isLive } from './liveness.ts';
import { recoverRun } from './recover-lost-run.ts';
import type { RunHost } from './workspace.ts';

const ROUND_MS = 5;

/**
 * Cancels the live children of a run, recursively, and waits until they have ended. The children of a workflow outlive a supervisor
 * that was killed.
 */
export async function endChildren(
  host: RunHost,
  runId: string,
  reason: string,
  signal?: AbortSignal,
): Promise<void> {
  const { store } = host;
  const ends = (await childrenOf(store, runId)).map(async ({ run_id }) => {
    if (await isLive(store, run_id)) {
      await store.control.requestCancel(run_id, reason);
      const isAbandoned = async () => !(await isLive(store, run_id));
      const options = { wait: true, isAbandoned, ...(signal && { signal }) };
      for await (const _ of store.follow(run_id, options));
      await untilRecorded(store, run_id, signal);
    }
    await recoverRun(host, run_id);
    await endChildren(host, run_id, reason, signal);
  });
  await Promise.all(ends);
}

/** The supervisor writes the ended record just after the last event, which ends the follow. */
async function untilRecorded(store: RunStore, runId: string, signal?: AbortSignal): Promise<void> {
  while (!signal?.aborted && (await isLive(store, runId)))
    await new Promise((resolve) => setTimeout(resolve, ROUND_MS));
}
