import { requestCancel } from '../store-files/cancel-request.ts';
import { childrenOf } from '../store-files/child-runs.ts';
import { followEvents } from '../store-files/follow.ts';
import { isLive } from '../store-files/lost-runs.ts';
import type { RunStore } from '../store-files/run-store.ts';
import { recoverIfLost } from './recover-lost-run.ts';

const ROUND_MS = 5;

/**
 * Cancels the live children of a run, and theirs, and waits until they have ended: the children of a workflow outlive a supervisor that
 * was killed.
 */
export async function endChildren(
  store: RunStore,
  runId: string,
  reason: string,
  signal?: AbortSignal,
): Promise<void> {
  const ends = childrenOf(store, runId).map(async (child) => {
    const { run_id } = child;
    if (isLive(child)) {
      requestCancel(store.layout(run_id), reason);
      const isAbandoned = () => !isLive(store.read(run_id));
      const options = { wait: true, isAbandoned, ...(signal && { signal }) };
      for await (const _ of followEvents(store.layout(run_id).events, options));
      await untilRecorded(store, run_id, signal);
    }
    await recoverIfLost(store, store.read(run_id));
    await endChildren(store, run_id, reason, signal);
  });
  await Promise.all(ends);
}

/** The record of an end is written just after the log. */
async function untilRecorded(store: RunStore, runId: string, signal?: AbortSignal): Promise<void> {
  while (!signal?.aborted && isLive(store.read(runId)))
    await new Promise((resolve) => setTimeout(resolve, ROUND_MS));
}
