import { cpSync, existsSync, linkSync, lstatSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { errorCode, errorMessage } from '../../../util/error-code.ts';
import { newSpanId } from '../../../util/ids.ts';
import { shellCommand } from '../../../util/shell-quote.ts';
import type { StagedOutput } from '../../registry/arguments.ts';

/** Makes the folders in which a tool writes its staged outputs. */
export function prepareStaging(staged: readonly StagedOutput[]): void {
  for (const output of staged) mkdirSync(dirname(output.staged), { recursive: true });
}

/** The staged outputs that the tool did write. */
export function writtenOutputs(staged: readonly StagedOutput[]): StagedOutput[] {
  return staged.filter((output) => existsSync(output.staged));
}

/**
 * Puts the outputs of a completed run in place, each at once and whole (contract §5), and all or none of them. What came to
 * stand at a target meanwhile is not overwritten: the outputs stay in the workspace, and the error says where.
 */
export function placeOutputs(all: readonly StagedOutput[]): void {
  const outputs = all.filter(({ stays }) => !stays);
  for (const [index, output] of outputs.entries()) {
    try {
      mkdirSync(dirname(output.target), { recursive: true });
      place(output.staged, output.target);
    } catch (error) {
      const kept = [...outputs.slice(0, index).filter(takeBack), ...outputs.slice(index)];
      const moves = kept.map(({ staged, target }) => shellCommand(['mv', staged, target]));
      throw new AcorError(
        'E_STORAGE',
        `cannot put the output in place at ${output.target}: ${whyNot(error)}`,
        {
          hint: `What was made is kept. Put it in place with: ${moves.join(' && ')}`,
          next: moves.map((command) => ({ command, why: 'Put the output in place.' })),
          cause: error,
        },
      );
    }
  }
}

/** A run that has failed leaves no output. False when it cannot be taken back. */
function takeBack({ staged, target }: StagedOutput): boolean {
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
    // On another file system: copied beside the target first, so that the target itself appears at once.
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

/** A hard link fails where a name is taken, which rename does not; a folder cannot be linked, and rename takes only an empty one's place. */
function moveWithoutOverwriting(from: string, to: string): void {
  if (lstatSync(from).isDirectory()) {
    if (existsSync(to)) throw Object.assign(new Error('taken'), { code: 'EEXIST' });
    renameSync(from, to);
    return;
  }
  linkSync(from, to);
  rmSync(from);
}

function whyNot(error: unknown): string {
  return errorCode(error) === 'EEXIST'
    ? 'something has come to stand there while the run was going'
    : errorMessage(error);
}
