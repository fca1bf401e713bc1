import { linkSync, renameSync } from 'node:fs';
import { AcorError } from '../../../protocol/acor-error.ts';
import { errorCode, errorMessage } from '../../../util/error-code.ts';
import { shellCommand } from '../../../util/shell-words.ts';
import type { StagedOutput } from '../../registry/arguments.ts';
import type { ReplacedFile } from '../../registry/path-grants.ts';
import type { RunWorkspace } from '../workspace.ts';
import { moveOver, moveWithoutOverwriting, place } from './move-output.ts';
import { copyOutput, OutputPlace } from './output-place.ts';
import { hasContentOf } from './outputs.ts';
import { nameBeside, UnfinishedOutputs } from './unfinished-outputs.ts';

/**
 * Moves the outputs of a completed run to their targets (contract §5): each atomically, and all or none. A target that appeared or changed
 * while the run worked is not overwritten: then all outputs stay in the workspace, and the error has the commands that move them.
 */
export function placeOutputs(all: readonly StagedOutput[], workspace: RunWorkspace): void {
  const outputs = all.filter(({ stays }) => !stays);
  using unfinished = new UnfinishedOutputs(workspace, outputs);
  using backups = new Backups(unfinished);
  for (const [index, output] of outputs.entries()) {
    try {
      using from = OutputPlace.staged(workspace, output.staged);
      using to = OutputPlace.target(output.target);
      if (output.replaces) assertUnchanged(to, output.replaces);
      // Only an output that may have to move back needs the old content.
      if (output.replaces && outputs.length > 1) backups.keep(output.target, to);
      const move = output.replaces === undefined ? moveWithoutOverwriting : moveOver;
      place(from, to, move, () => unfinished.nameBeside(output.target, 'copied'));
    } catch (error) {
      const kept = [
        ...outputs.slice(0, index).filter((each) => moveBack(each, workspace, backups)),
        ...outputs.slice(index),
      ];
      const moves = kept.map(({ staged, target }) => shellCommand(['mv', staged, target]));
      throw new AcorError(
        CONFLICTS.includes(errorCode(error)) ? 'E_CONFLICT' : 'E_STORAGE',
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

/** The old content of replaced files, under a second name beside each, until all outputs are in place. */
class Backups implements Disposable {
  readonly #places = new Map<string, OutputPlace>();
  readonly #unfinished: UnfinishedOutputs;

  constructor(unfinished: UnfinishedOutputs) {
    this.#unfinished = unfinished;
  }

  keep(target: string, place: OutputPlace): void {
    if (place.stats() === undefined) return;
    const backup = place.beside(this.#unfinished.nameBeside(target, 'replaced'));
    this.#places.set(target, backup);
    try {
      linkSync(place.path, backup.path);
    } catch {
      // A file system without hard links gets a copy.
      copyOutput(place, backup);
    }
  }

  restore(target: string, place: OutputPlace): void {
    const backup = this.#places.get(target);
    if (backup !== undefined) renameSync(backup.path, place.path);
  }

  [Symbol.dispose](): void {
    for (const backup of this.#places.values()) {
      backup.remove();
      backup[Symbol.dispose]();
    }
  }
}

function assertUnchanged(target: OutputPlace, replaces: ReplacedFile): void {
  const stats = target.stats();
  if (stats === undefined) return;
  if (stats.ino !== replaces.ino || !hasContentOf(stats, replaces))
    throw Object.assign(new Error('changed'), { code: 'ESTALE' });
}

/** Moves a placed output back to the workspace, and the old content to its target: a failed run changes no output. False when that fails. */
function moveBack({ staged, target }: StagedOutput, workspace: RunWorkspace, backups: Backups): boolean {
  try {
    using from = OutputPlace.target(target);
    using to = OutputPlace.staged(workspace, staged);
    place(from, to, moveWithoutOverwriting, nameBeside);
    backups.restore(target, from);
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
