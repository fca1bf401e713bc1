import { linkSync, renameSync } from 'node:fs';
import { AcorError } from '../../../protocol/acor-error.ts';
import { errorCode, errorMessage } from '../../../util/error-code.ts';
import { shellCommand } from '../../../util/shell-words.ts';
import type { RunWriter } from '../../ports/run-store.ts';
import type { StagedOutput } from '../../registry/arguments.ts';
import type { ReplacedFile } from '../../registry/path-grants.ts';
import type { RunWorkspace } from '../workspace.ts';
import { moveOver, moveWithoutOverwriting, place } from './move-output.ts';
import { copyOutput, OutputPlace } from './output-place.ts';
import { hasContentOf } from './outputs.ts';
import { settleOutputs } from './settle-outputs.ts';
import { nameBeside, recordUnfinishedOutputs, type UnfinishedOutput } from './unfinished-outputs.ts';

type StagedFile = Pick<StagedOutput, 'target' | 'staged'>;

/**
 * Moves the outputs of a completed run to their targets (contract §5): each atomically, and all or none. A target that appeared or changed
 * while the run worked is not overwritten: then all outputs stay in the workspace, and the error has the commands that move them.
 * `settleOutputs` ends it, when the run has its final state.
 */
export function placeOutputs(
  outputs: readonly StagedOutput[],
  workspace: RunWorkspace,
  log: RunWriter['log'],
): void {
  const unfinished = recorded(outputs, workspace);
  for (const [index, output] of unfinished.entries()) {
    try {
      placeOutput(output, workspace);
    } catch (error) {
      const placed = unfinished.slice(0, index);
      const kept = [...placed.filter((each) => moveBack(each, workspace)), ...unfinished.slice(index)];
      // Only the files beside the targets are left.
      settleOutputs(log, workspace, 'completed');
      throw notPlaced(output, error, kept);
    }
  }
}

function recorded(outputs: readonly StagedOutput[], workspace: RunWorkspace): UnfinishedOutput[] {
  try {
    return recordUnfinishedOutputs(workspace, outputs);
  } catch (error) {
    throw notPlaced(outputs[0]!, error, outputs);
  }
}

/** `kept` are the outputs that the workspace has. After a conflict they are to be compared with what another process has written. */
function notPlaced({ staged, target }: StagedFile, error: unknown, kept: readonly StagedFile[]): AcorError {
  const moves = kept.map((each) => shellCommand(['mv', each.staged, each.target]));
  const message = `cannot put the output in place at ${target}: ${placeProblem(error)}`;
  const isKept = 'The workspace still has the outputs.';
  if (!CONFLICTS.includes(errorCode(error)))
    return new AcorError('E_STORAGE', message, {
      hint: `${isKept} Move them with: ${moves.join(' && ')}`,
      cause: error,
    });
  const compare = shellCommand(['diff', '-r', target, staged]);
  return new AcorError('E_CONFLICT', message, {
    hint: `${isKept} Compare them with what is there: ${compare}. Only if that may be replaced, move them: ${moves.join(' && ')}`,
    cause: error,
  });
}

function placeOutput({ staged, target, replaces, beside }: UnfinishedOutput, workspace: RunWorkspace): void {
  using from = OutputPlace.staged(workspace, staged);
  using to = OutputPlace.target(target);
  if (replaces !== null) {
    assertUnchanged(to, replaces);
    keepOld(to, beside.replaced);
  }
  const move = replaces === null ? moveWithoutOverwriting : moveOver;
  place(from, to, move, () => beside.copied);
}

/** Gives the file that is replaced a second name beside it. */
function keepOld(target: OutputPlace, name: string): void {
  if (target.stats() === undefined) return;
  using old = target.beside(name);
  try {
    linkSync(target.path, old.path);
  } catch {
    // A file system without hard links gets a copy.
    copyOutput(target, old);
  }
}

function assertUnchanged(target: OutputPlace, replaces: ReplacedFile): void {
  const stats = target.stats();
  if (stats === undefined) return;
  if (stats.ino !== replaces.ino || !hasContentOf(stats, replaces))
    throw Object.assign(new Error('changed'), { code: 'ESTALE' });
}

/** Moves a placed output back to the workspace, and the old content to its target: a failed run changes no output. False when that fails. */
function moveBack({ staged, target, beside }: UnfinishedOutput, workspace: RunWorkspace): boolean {
  try {
    using from = OutputPlace.target(target);
    using old = from.beside(beside.replaced);
    using to = OutputPlace.staged(workspace, staged);
    place(from, to, moveWithoutOverwriting, nameBeside);
    if (old.stats() !== undefined) renameSync(old.path, from.path);
    return true;
  } catch {
    return false;
  }
}

/** Another process has changed the target meanwhile. */
const CONFLICTS: readonly (string | undefined)[] = ['EEXIST', 'ESTALE', 'ENOTDIR'];

function placeProblem(error: unknown): string {
  switch (errorCode(error)) {
    case 'EEXIST':
      return 'another process created it while the run worked';
    case 'ESTALE':
      return 'another process changed it while the run worked';
    case 'ENOTDIR':
      return 'a folder above it is a link or a file now, and ACOR does not follow it';
    default:
      return errorMessage(error);
  }
}
