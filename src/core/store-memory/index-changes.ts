import { isFinal } from '../../protocol/run.ts';
import type { IdRange, RunSource, SourceRun } from '../ports/run-index.ts';

/** So many of the missing runs are looked for at an update, evenly spread: a pack that was restored has hundreds of them. */
const LOOKED_FOR = 1_000;

/** The changes that bring an index up to date. */
export interface IndexChanges {
  /** Whether to remove everything else from the index. */
  isWhole: boolean;
  changed: SourceRun[];
  removed: string[];
  /** More runs that are missing from the store. */
  missing: string[];
  position: string;
}

/** What an index holds before it is brought up to date. */
export interface Indexed {
  position: string | undefined;
  unended: string[];
  missing: string[];
  idsIn(range: IdRange): string[];
}

/** Reads the changes since a position: runs that ended or were removed, and the runs that have not ended. */
export async function readChanges(
  source: RunSource,
  { position, unended, missing, idsIn }: Indexed,
): Promise<IndexChanges> {
  const isKnown = position !== undefined && !(await areSomeBack(source, missing));
  const changes = isKnown ? await source.changesAfter(position) : undefined;
  // Read the position first: a run that ends while the runs are listed is read a second time later.
  const next = changes?.position ?? (await source.position());
  const runIds =
    changes === undefined
      ? await source.list()
      : [...new Set([...changes.runIds, ...unended, ...(await source.unended())])];
  const changed: SourceRun[] = [];
  const removed: string[] = [];
  for (const runId of runIds) {
    const run = await source.read(runId);
    if (run === undefined) removed.push(runId);
    else changed.push(run);
  }
  const doubtful = (changes?.doubtful ?? []).flatMap(idsIn).filter((runId) => !runIds.includes(runId));
  if (doubtful.length > 0) {
    const existing = await source.existing(doubtful);
    removed.push(...doubtful.filter((runId) => !existing.has(runId)));
  }
  const known = new Set(changes?.removed);
  const unknown = removed.filter((runId) => !known.has(runId));
  const gone = changes === undefined ? await source.missing() : await missingOf(source, unknown);
  return { isWhole: changes === undefined, changed, removed, missing: gone, position: next };
}

export async function missingOf(source: RunSource, runIds: readonly string[]): Promise<string[]> {
  return runIds.length === 0 ? [] : source.missing(runIds);
}

async function areSomeBack(source: RunSource, missing: readonly string[]): Promise<boolean> {
  if (missing.length === 0) return false;
  const step = Math.ceil(missing.length / LOOKED_FOR);
  return (await source.existing(missing.filter((_, at) => at % step === 0))).size > 0;
}

/** Whether to read a run at each update, because it has not ended. */
export function isUnended({ run }: SourceRun): boolean {
  return !isFinal(run.state);
}
