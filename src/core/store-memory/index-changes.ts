import { isFinal } from '../../protocol/run.ts';
import type { RunSource, SourceRun } from '../ports/run-index.ts';

/** The changes that bring an index up to date. */
export interface IndexChanges {
  /** Whether to remove everything else from the index. */
  isWhole: boolean;
  changed: SourceRun[];
  removed: string[];
  position: string;
}

/** Reads the changes since a position: runs that ended or were removed, and the runs that have not ended. */
export async function readChanges(
  source: RunSource,
  position: string | undefined,
  unended: readonly string[],
): Promise<IndexChanges> {
  const changes = position === undefined ? undefined : await source.changesAfter(position);
  // Read the position first: a run that ends while the runs are listed is read a second time later.
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

/** Whether to read a run at each update, because it has not ended. */
export function isUnended({ run }: SourceRun): boolean {
  return !isFinal(run.state);
}
