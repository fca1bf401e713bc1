import type { RunRecord } from '../../protocol/run-record.ts';
import { isFinal } from '../../protocol/run-state.ts';
import type { RunStore } from '../ports/run-store.ts';

/** Whether a run has ended, has a supervisor, or has lost it. */
export type Liveness = 'ended' | 'live' | 'lost';

/** A run's record, and whether the run is live: both as of one moment. Throws E_RUN_NOT_FOUND. */
export async function livenessOf(
  store: RunStore,
  runId: string,
): Promise<{ record: RunRecord; liveness: Liveness }> {
  for (;;) {
    const record = await store.read(runId);
    if (isFinal(record.state)) return { record, liveness: 'ended' };
    if ((await store.leases.inspect(runId)) === 'live') return { record, liveness: 'live' };
    // A run releases its lease after it has recorded its end: both may have happened between the two looks.
    const again = await store.read(runId);
    if (again.state === record.state && again.epoch === record.epoch) return { record, liveness: 'lost' };
  }
}

/** Whether a run is supervised now. Throws E_RUN_NOT_FOUND. */
export async function isLive(store: RunStore, runId: string): Promise<boolean> {
  return (await livenessOf(store, runId)).liveness === 'live';
}
