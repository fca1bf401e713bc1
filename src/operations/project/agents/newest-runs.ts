import type { IndexedRun, RunIndex } from '../../../core/ports/run-index.ts';

/** So many are looked at: an agent is not to wait for all of them. */
const LOOKED_AT = 100;

/** The newest runs, the newest first. A folder that holds no readable run is reported by `acor health`. */
export async function newestRuns(index: RunIndex): Promise<IndexedRun[]> {
  return (await index.query({ limit: LOOKED_AT })).runs;
}
