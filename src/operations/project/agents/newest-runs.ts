import type { RunStore } from '../../../core/store-files/run-store.ts';
import type { RunRecord } from '../../../protocol/run-record.ts';

/** So many are looked at: an agent is not to wait for all of them. */
const LOOKED_AT = 100;

/** The records of the newest runs, the newest first. A folder that holds no readable run is told of by `acor health`. */
export function newestRuns(store: RunStore): RunRecord[] {
  const newest = store.list().reverse().slice(0, LOOKED_AT);
  return newest.flatMap((runId) => {
    try {
      return [store.read(runId)];
    } catch {
      return [];
    }
  });
}
