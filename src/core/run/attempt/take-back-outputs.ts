import { renameSync, rmSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { errorCode } from '../../../util/error-code.ts';
import { shellCommand } from '../../../util/shell-words.ts';
import { storageError } from '../../store-files/storage-error.ts';
import type { RunWorkspace } from '../workspace.ts';
import { moveWithoutOverwriting, place } from './move-output.ts';
import { OutputPlace } from './output-place.ts';
import { hasContentOf } from './outputs.ts';
import { nameBeside, readUnfinishedOutputs, type UnfinishedOutput } from './unfinished-outputs.ts';

/**
 * Ends what a supervisor that was killed has begun: all outputs are in place, or none (contract §5). Unless all were moved, those that were go
 * back to the workspace and the old content to their targets. Removes the files beside the targets. Throws after the last output when one of
 * them could not be taken back.
 */
export function takeBackOutputs(workspace: RunWorkspace): void {
  const outputs = readUnfinishedOutputs(workspace);
  const isWhole = outputs.every(({ staged }) => isMoved(workspace, staged));
  const errors = outputs.flatMap((output) => {
    try {
      takeBack(workspace, output, isWhole);
      return [];
    } catch (error) {
      return [error];
    }
  });
  if (errors.length > 0) throw errors[0];
  rmSync(workspace.unfinishedOutputs);
}

function isMoved(workspace: RunWorkspace, staged: string): boolean {
  using from = OutputPlace.staged(workspace, staged);
  return from.stats() === undefined;
}

function takeBack(workspace: RunWorkspace, output: UnfinishedOutput, isWhole: boolean): void {
  const { target, staged, beside } = output;
  try {
    using to = OutputPlace.existing(target);
    using old = to.beside(beside.replaced);
    using copied = to.beside(beside.copied);
    using from = OutputPlace.staged(workspace, staged);
    if (!isWhole) restore(output, { from, to, old });
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
