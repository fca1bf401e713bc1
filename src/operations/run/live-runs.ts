import { readRun } from '../../core/run/read-run.ts';
import { isFinal } from '../../protocol/run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { AcorApp } from '../acor-app.ts';

const MAX_SHOWN = 5;
/** Steps of workflows are left out, and there may be many. */
const MAX_READ = 50;

/** The newest live and waiting runs of the project, without steps of other runs. Reads the leases, not the index. */
export async function liveRuns(app: AcorApp): Promise<RunRecord[]> {
  await app.authorize({ name: 'run.list', effect: 'reads' }, {});
  const { store } = await app.project();
  const leased = (await store.leases.list()).map(({ runId }) => runId).sort();
  const live: RunRecord[] = [];
  for (const runId of leased.reverse().slice(0, MAX_READ)) {
    // Another process may have removed it.
    const record = await readRun(store, runId).catch(() => undefined);
    if (record === undefined || isFinal(record.state) || record.parent !== null) continue;
    live.push(record);
    if (live.length === MAX_SHOWN) break;
  }
  return live;
}
