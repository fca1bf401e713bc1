import type { RunStore } from '../../../core/ports/run-store.ts';
import type { RunRecord } from '../../../protocol/run-record.ts';

/** So many are looked at: an agent is not to wait for all of them. */
const LOOKED_AT = 100;

/** The records of the newest runs, the newest first. A folder that holds no readable run is told of by `acor health`. */
export async function newestRuns(store: RunStore): Promise<RunRecord[]> {
  const newest = (await store.list()).reverse().slice(0, LOOKED_AT);
  const records = await Promise.all(newest.map((runId) => store.read(runId).catch(() => undefined)));
  return records.filter((record) => record !== undefined);
}
