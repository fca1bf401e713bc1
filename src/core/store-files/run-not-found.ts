import { statSync } from 'node:fs';
import { join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { FORGET_MISSING_RUNS, LIST_RUNS, removeRun, showRun, VERIFY } from '../../protocol/next-steps.ts';
import { editDistance } from '../../util/nearest.ts';
import type { FileRuns } from './claim-runs.ts';
import { missingPacks, missingRuns } from './missing-runs.ts';

const LEAST_BEGINNING = 'r-'.length + 2;
const MAX_SLIPS = 2;
const SHOWN = 3;

/**
 * E_INTEGRITY for a run whose files another program has removed. Otherwise E_RUN_NOT_FOUND, with the run ids that the caller probably meant. A prefix is never accepted as a run id, even when it is unique: ids
 * begin with the time, so a prefix that matches one run now may match two runs a moment later.
 */
export function runNotFound(runId: string, store: Pick<FileRuns, 'root' | 'files' | 'listNow'>): AcorError {
  const { root } = store;
  if (hasEvents(join(root, runId))) return recordMissing(runId, root);
  if (missingRuns(store, [runId]).length > 0) return runMissing(runId, store);
  const others = store.listNow().filter((id) => id !== runId);
  const nearest = nearRuns(runId, others);
  const hint = nearest.length === 0 ? 'List the runs.' : `Did you mean ${nearest.join(' or ')}?`;
  return new AcorError('E_RUN_NOT_FOUND', `run ${runId} not found in ${root}`, {
    hint,
    ...(nearest.length > 0 && { details: { run: runId, nearest } }),
    next: [...nearest.map(showRun), LIST_RUNS],
  });
}

/** False for a run whose creator was killed before it had written anything. */
function hasEvents(folder: string): boolean {
  const events = statSync(join(folder, 'events.jsonl'), { throwIfNoEntry: false });
  return events !== undefined && events.size > 0;
}

/** The folder of the run is there, but nothing that reads a run can do without its record. */
function recordMissing(runId: string, root: string): AcorError {
  const folder = join(root, runId);
  return new AcorError(
    'E_INTEGRITY',
    `run ${runId} has no record: ${join(folder, 'metadata.json')} is missing`,
    {
      hint: `Restore the file from a backup, or remove the folder ${folder}. The events of the run are in events.jsonl there.`,
      next: [LIST_RUNS],
    },
  );
}

/** The record of the run is there, and its log is not. */
export function logMissing(runId: string, path: string): AcorError {
  return new AcorError('E_INTEGRITY', `the event log of run ${runId} is gone: ${path}`, {
    hint: 'Another program removed it. Restore the file from a backup. If there is none, remove the run: what it did is not known any more.',
    details: { run: runId },
    next: [VERIFY, removeRun(runId)],
  });
}

/** The ledger has the end of the run, and ACOR has not removed it. */
function runMissing(runId: string, store: Pick<FileRuns, 'root' | 'files' | 'listNow'>): AcorError {
  const packs = missingPacks(store, [runId]);
  const what =
    packs.length === 0
      ? `its folder ${join(store.root, runId)} is gone`
      : `it has no folder, and the pack ${packs.join(', ')} is gone`;
  return new AcorError(
    'E_INTEGRITY',
    `run ${runId} is missing: it has ended and ACOR did not remove it, but ${what}`,
    {
      hint: 'Restore the files from a backup. If there is none, enter the missing runs as removed.',
      details: { run: runId, packs },
      next: [FORGET_MISSING_RUNS, VERIFY],
    },
  );
}

/** The ids that begin with the text, else those at most two typing errors away; newest first. */
function nearRuns(typed: string, ids: readonly string[]): string[] {
  const newestFirst = [...ids].reverse();
  const begun = typed.length < LEAST_BEGINNING ? [] : newestFirst.filter((id) => id.startsWith(typed));
  const near = begun.length > 0 ? begun : newestFirst.filter((id) => isSlip(typed, id));
  return near.slice(0, SHOWN);
}

function isSlip(typed: string, id: string): boolean {
  return Math.abs(typed.length - id.length) <= MAX_SLIPS && editDistance(typed, id) <= MAX_SLIPS;
}
