import type { RunRecord } from '../../protocol/run-record.ts';
import type { RunStore } from '../ports/run-store.ts';

/** The child runs of a run. Runs that another process is just creating or removing are left out. */
export async function childrenOf(store: RunStore, runId: string): Promise<RunRecord[]> {
  const children: RunRecord[] = [];
  for (const id of await store.list()) {
    const record = await store.read(id).catch(() => undefined);
    if (record?.parent?.run_id === runId) children.push(record);
  }
  return children;
}
