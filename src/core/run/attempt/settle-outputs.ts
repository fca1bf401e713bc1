import { renameSync, rmSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import type { FinalState } from '../../../protocol/run.ts';
import { errorCode, errorMessage } from '../../../util/error-code.ts';
import { shellCommand } from '../../../util/shell-words.ts';
import type { RunWriter } from '../../ports/run-store.ts';
import { storageError } from '../../store-files/storage-error.ts';
import type { RunWorkspace } from '../workspace.ts';
import { moveWithoutOverwriting, place } from './move-output.ts';
import { OutputPlace } from './output-place.ts';
import { hasContentOf } from './outputs.ts';
import { nameBeside, readUnfinishedOutputs, type UnfinishedOutput } from './unfinished-outputs.ts';

/**
 * Ends what `placeOutputs` has begun, when the run has its final state: a completed one keeps its outputs. Those of another go back to the
 * workspace and the old content to their targets (contract §5), also after a kill. Removes the files beside the targets. What cannot be taken
 * back is a warning: it must not prevent the end of the run.
 */
export function settleOutputs(log: RunWriter['log'], workspace: RunWorkspace, state: FinalState): void {
  try {
    const outputs = readUnfinishedOutputs(workspace);
    const errors = outputs.flatMap((output) => errorsOf(() => settle(workspace, output, state)));
    if (errors.length > 0) throw errors[0];
    rmSync(workspace.unfinishedOutputs);
  } catch (error) {
    const code = error instanceof AcorError ? error.code : 'E_STORAGE';
    log.append({ type: 'runner_warning', code, msg: errorMessage(error) });
  }
}

function errorsOf(work: () => void): unknown[] {
  try {
    work();
    return [];
  } catch (error) {
    return [error];
  }
}

function settle(workspace: RunWorkspace, output: UnfinishedOutput, state: FinalState): void {
  const { target, staged, beside } = output;
  try {
    using to = OutputPlace.existing(target);
    using old = to.beside(beside.replaced);
    using copied = to.beside(beside.copied);
    if (state !== 'completed') {
      using from = OutputPlace.staged(workspace, staged);
      restore(output, { from, to, old });
    }
    old.remove();
    copied.remove();
  } catch (error) {
    if (error instanceof AcorError) throw error;
    // The folder of the target was removed or replaced meanwhile.
    if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) return;
    throw storageError(error, 'take back an output', target);
  }
}

function restore(
  output: UnfinishedOutput,
  { from, to, old }: Record<'from' | 'to' | 'old', OutputPlace>,
): void {
  const before = old.stats();
  const now = to.stats();
  // Without the old content there is nothing to put back.
  if (output.replaces !== null && before === undefined) return;
  if (now !== undefined) {
    if (output.replaces !== null && hasContentOf(now, output.replaces)) return;
    const staged = from.stats();
    if (!isPlaced(now, output, staged)) {
      if (before !== undefined) throw changedSince(output);
      return;
    }
    if (staged !== undefined) to.remove();
    else place(to, from, moveWithoutOverwriting, nameBeside);
  }
  if (before !== undefined) renameSync(old.path, to.path);
}

/** Whether a target is what the run has put there. A folder has no content to compare: it is when it was moved. */
function isPlaced(now: Stats, output: UnfinishedOutput, staged: Stats | undefined): boolean {
  return now.isDirectory() ? staged === undefined : hasContentOf(now, output);
}

function changedSince({ target, beside }: UnfinishedOutput): AcorError {
  const old = join(dirname(target), beside.replaced);
  return new AcorError(
    'E_CONFLICT',
    `${target} was changed after ACOR had been killed, so its old content was not put back. Put it back with: ${shellCommand(['mv', old, target])}`,
  );
}
