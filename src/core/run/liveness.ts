import type { RunRecord } from '../../protocol/run-record.ts';
import { isFinal } from '../../protocol/run-state.ts';
import type { RunStore } from '../ports/run-store.ts';

/** `ended`; `live`: a supervisor owns the run; `lost`: its supervisor is gone. */
export type Liveness = 'ended' | 'live' | 'lost';

/** A consistent view of a run's record and its liveness. Throws E_RUN_NOT_FOUND. */
export async function livenessOf(
  store: RunStore,
  runId: string,
): Promise<{ record: RunRecord; liveness: Liveness }> {
  for (;;) {
    const record = await store.read(runId);
    if (isFinal(record.state)) return { record, liveness: 'ended' };
    if ((await store.leases.inspect(runId)) === 'live') return { record, liveness: 'live' };
    // A supervisor releases its lease after it has written the end: both may happen between the two reads.
    const again = await store.read(runId);
    if (again.state === record.state && again.epoch === record.epoch) return { record, liveness: 'lost' };
  }
}

/** Whether a supervisor owns the run now. Throws E_RUN_NOT_FOUND. */
export async function isLive(store: RunStore, runId: string): Promise<boolean> {
  return (await livenessOf(store, runId)).liveness === 'live';
}
