import { cpSync, existsSync, linkSync, lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { errorCode, errorMessage } from '../../../util/error-code.ts';
import { newSpanId } from '../../../util/ids.ts';
import { shellCommand } from '../../../util/shell-words.ts';
import type { StagedOutput } from '../../registry/arguments.ts';

/** Creates the folders in which a tool writes its staged outputs. */
export function prepareStaging(staged: readonly StagedOutput[]): void {
  for (const output of staged) mkdirSync(dirname(output.staged), { recursive: true });
}

/** The staged outputs that the tool wrote. */
export function writtenOutputs(staged: readonly StagedOutput[]): StagedOutput[] {
  return staged.filter((output) => existsSync(output.staged));
}

/**
 * Moves the outputs of a completed run to their targets (contract §5): each atomically, and all or none. An existing target is not
 * overwritten: then all outputs stay in the workspace, and the error has the commands that move them.
 */
export function placeOutputs(all: readonly StagedOutput[]): void {
  const outputs = all.filter(({ stays }) => !stays);
  for (const [index, output] of outputs.entries()) {
    try {
      mkdirSync(dirname(output.target), { recursive: true });
      place(output.staged, output.target);
    } catch (error) {
      const kept = [...outputs.slice(0, index).filter(moveBack), ...outputs.slice(index)];
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
function moveBack({ staged, target }: StagedOutput): boolean {
  try {
    place(target, staged);
    return true;
  } catch {
    return false;
  }
}

function place(from: string, to: string): void {
  try {
    moveWithoutOverwriting(from, to);
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw error;
    // On another file system: copy beside the target first, so that the target itself appears atomically.
    const beside = join(dirname(to), `.acor-${newSpanId()}`);
    try {
      cpSync(from, beside, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
      moveWithoutOverwriting(beside, to);
    } catch (inner) {
      rmSync(beside, { recursive: true, force: true });
      throw inner;
    }
    rmSync(from, { recursive: true, force: true });
  }
}

/** `link` fails when the target exists; `rename` would replace a file. A folder cannot be linked, and `rename` replaces only an empty one. */
function moveWithoutOverwriting(from: string, to: string): void {
  if (lstatSync(from).isDirectory()) {
    if (existsSync(to)) throw Object.assign(new Error('taken'), { code: 'EEXIST' });
    renameSync(from, to);
    return;
  }
  linkSync(from, to);
  rmSync(from);
}

function placeProblem(error: unknown): string {
  return errorCode(error) === 'EEXIST'
    ? 'another process created it while the run worked'
    : errorMessage(error);
}
