import { AcorError } from '../../protocol/acor-error.ts';
import { LIST_RUNS, showRun } from '../../protocol/next-steps.ts';
import { editDistance } from '../../util/nearest.ts';

const LEAST_BEGINNING = 'r-'.length + 2;
const MAX_SLIPS = 2;
const SHOWN = 3;

/**
 * E_RUN_NOT_FOUND, with the run ids that the caller probably meant. A prefix is never accepted as a run id, even when it is unique: ids
 * begin with the time, so a prefix that matches one run now may match two runs a moment later.
 */
export function runNotFound(runId: string, root: string, ids: readonly string[]): AcorError {
  const nearest = nearRuns(runId, ids);
  const hint = nearest.length === 0 ? 'List the runs.' : `Did you mean ${nearest.join(' or ')}?`;
  return new AcorError('E_RUN_NOT_FOUND', `run ${runId} not found in ${root}`, {
    hint,
    ...(nearest.length > 0 && { details: { run: runId, nearest } }),
    next: [...nearest.map(showRun), LIST_RUNS],
  });
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
