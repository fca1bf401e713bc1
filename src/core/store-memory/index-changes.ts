import { isFinal } from '../../protocol/run-state.ts';
import type { RunSource, SourceRun } from '../ports/run-index.ts';

/** What an index has to change to be up to date. */
export interface IndexChanges {
  /** Whether everything else in the index is to go. */
  isWhole: boolean;
  changed: SourceRun[];
  removed: string[];
  position: string;
}

/** Reads what changed since a position: runs that ended or were removed, and the runs that have not ended, of which the index knows some. */
export async function readChanges(
  source: RunSource,
  position: string | undefined,
  unended: readonly string[],
): Promise<IndexChanges> {
  const changes = position === undefined ? undefined : await source.changesAfter(position);
  // The position first: what ends while the runs are listed is read a second time.
  const next = changes?.position ?? (await source.position());
  const runIds =
    changes === undefined
      ? await source.list()
      : new Set([...changes.runIds, ...unended, ...(await source.unended())]);
  const changed: SourceRun[] = [];
  const removed: string[] = [];
  for (const runId of runIds) {
    const run = await source.read(runId);
    if (run === undefined) removed.push(runId);
    else changed.push(run);
  }
  return { isWhole: changes === undefined, changed, removed, position: next };
}

/** Whether a run is read again each time. */
export function isUnended({ run }: SourceRun): boolean {
  return !isFinal(run.state);
}
