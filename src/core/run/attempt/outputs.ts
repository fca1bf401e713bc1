import { linkSync, renameSync, unlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { errorCode, errorMessage } from '../../../util/error-code.ts';
import { shellCommand } from '../../../util/shell-words.ts';
import type { StagedOutput } from '../../registry/arguments.ts';
import type { RunWorkspace } from '../workspace.ts';
import { copyOutput, makeStagingFolders, OutputPlace } from './output-place.ts';

/** Creates the folders in which a tool writes its staged outputs. They are new in each attempt. */
export function prepareStaging(staged: readonly StagedOutput[], workspace: RunWorkspace): void {
  makeStagingFolders(
    workspace,
    staged.map((output) => dirname(output.staged)),
  );
}

/** The staged outputs that the tool wrote. */
export function writtenOutputs(staged: readonly StagedOutput[], workspace: RunWorkspace): StagedOutput[] {
  return staged.filter((output) => wasWritten(output, workspace));
}

/** A tool that has replaced the folder by something else wrote no output. */
function wasWritten({ staged }: StagedOutput, workspace: RunWorkspace): boolean {
  try {
    using place = OutputPlace.staged(workspace, staged);
    return place.stats() !== undefined;
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return false;
    throw error;
  }
}

/**
 * Moves the outputs of a completed run to their targets (contract §5): each atomically, and all or none. An existing target is not
 * overwritten: then all outputs stay in the workspace, and the error has the commands that move them.
 */
export function placeOutputs(all: readonly StagedOutput[], workspace: RunWorkspace): void {
  const outputs = all.filter(({ stays }) => !stays);
  for (const [index, output] of outputs.entries()) {
    try {
      using from = OutputPlace.staged(workspace, output.staged);
      using to = OutputPlace.target(output.target);
      place(from, to);
    } catch (error) {
      const kept = [
        ...outputs.slice(0, index).filter((each) => moveBack(each, workspace)),
        ...outputs.slice(index),
      ];
      const moves = kept.map(({ staged, target }) => shellCommand(['mv', staged, target]));
      throw new AcorError(
        'E_STORAGE',
        `cannot put the output in place at ${output.target}: ${placeProblem(error)}`,
        {
          hint: `The workspace still has the outputs. Move them with: ${moves.join(' && ')}`,
          next: moves.map((command) => ({ command, why: 'Move the output to its target.' })),
          cause: error,
        },
      );
    }
  }
}

/** Moves a placed output back to the workspace: a failed run leaves no output. False when that fails. */
function moveBack({ staged, target }: StagedOutput, workspace: RunWorkspace): boolean {
  try {
    using from = OutputPlace.target(target);
    using to = OutputPlace.staged(workspace, staged);
    place(from, to);
    return true;
  } catch {
    return false;
  }
}

function place(from: OutputPlace, to: OutputPlace): void {
  try {
    moveWithoutOverwriting(from, to);
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw error;
    // On another file system: copy beside the target first, so that the target itself appears atomically.
    using beside = to.beside();
    try {
      copyOutput(from, beside);
      moveWithoutOverwriting(beside, to);
    } catch (inner) {
      beside.remove();
      throw inner;
    }
    from.remove();
  }
}

/** `link` fails when the target exists; `rename` would replace a file. A folder cannot be linked, and `rename` replaces only an empty one. */
function moveWithoutOverwriting(from: OutputPlace, to: OutputPlace): void {
  if (from.stats()?.isDirectory()) {
    if (to.stats() !== undefined) throw Object.assign(new Error('taken'), { code: 'EEXIST' });
    renameSync(from.path, to.path);
    return;
  }
  linkSync(from.path, to.path);
  unlinkSync(from.path);
}

function placeProblem(error: unknown): string {
  switch (errorCode(error)) {
    case 'EEXIST':
      return 'another process created it while the run worked';
    case 'ENOTDIR':
      return 'a folder above it is a link or a file now, and ACOR does not follow it';
    default:
      return errorMessage(error);
  }
}
