import type { RunRecord } from '../../protocol/run-record.ts';
import type { RunStore } from './run-store.ts';

/** The runs that were begun as parts of another one. What is just being removed or made is left out. */
export function childrenOf(store: RunStore, runId: string): RunRecord[] {
  return store.list().flatMap((id) => {
    try {
      const record = store.read(id);
      return record.parent?.run_id === runId ? [record] : [];
    } catch {
      return [];
    }
  });
}
