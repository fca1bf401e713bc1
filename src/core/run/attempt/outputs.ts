import { chmodSync, lchownSync, linkSync, renameSync, type Stats, unlinkSync } from 'node:fs';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { errorCode, errorMessage } from '../../../util/error-code.ts';
import { shellCommand } from '../../../util/shell-words.ts';
import type { Grant, StagedOutput } from '../../registry/arguments.ts';
import { type ReplacedFile, replacedFile } from '../../registry/path-grants.ts';
import type { WantedPlace } from '../../review/keep-writes.ts';
import type { ToolPlan } from '../plan/tool-plan.ts';
import type { RunWorkspace } from '../workspace.ts';
import { copyOutput, makeStagingFolders, OutputPlace } from './output-place.ts';

/**
 * Creates the folders in which a tool writes its staged outputs, and the copies of files that they replace. They are new in each attempt.
 * Returns the outputs with the state of the files that were copied.
 */
export function prepareStaging(staged: readonly StagedOutput[], workspace: RunWorkspace): StagedOutput[] {
  makeStagingFolders(
    workspace,
    staged.map((output) => dirname(output.staged)),
  );
  return staged.map((output) =>
    output.replaces === undefined ? output : { ...output, replaces: copyToReplace(output, workspace) },
  );
}

/** The size of the copies, which the tool has not written. */
export function copiedBytes(staged: readonly StagedOutput[]): number {
  let bytes = 0;
  for (const { replaces } of staged) bytes += replaces?.size ?? 0;
  return bytes;
}

/** The places that a run writes and of which ACOR keeps what they were: folders and files, and outputs that stay until they are applied. */
export function placesToKeep({
  grants,
  staged,
  workspace,
}: Pick<ToolPlan, 'grants' | 'staged' | 'workspace'>): WantedPlace[] {
  return [
    ...grants.flatMap(({ path, mode }) =>
      mode === undefined || mode === 'in_place' ? [] : [{ path, mode }],
    ),
    ...staged.flatMap(({ isReviewed, keepsReplaced, target, staged: path }): WantedPlace[] =>
      isReviewed
        ? [{ path: target, mode: 'review', tree: relative(workspace.dir, path) }]
        : keepsReplaced
          ? [{ path: target, mode: 'snapshot' }]
          : [],
    ),
  ];
}

/** The staged outputs that the tool wrote. A copy that the tool did not change is left out. */
export function writtenOutputs(staged: readonly StagedOutput[], workspace: RunWorkspace): StagedOutput[] {
  return staged.filter((output) => wasWritten(output, workspace));
}

/** A tool that has replaced the folder by something else wrote no output. */
function wasWritten({ staged, replaces }: StagedOutput, workspace: RunWorkspace): boolean {
  try {
    using place = OutputPlace.staged(workspace, staged);
    const stats = place.stats();
    return stats !== undefined && !(replaces && hasContentOf(stats, replaces));
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return false;
    throw error;
  }
}

/**
 * Moves the outputs of a completed run to their targets (contract §5): each atomically, and all or none. A target that appeared or changed
 * while the run worked is not overwritten: then all outputs stay in the workspace, and the error has the commands that move them.
 */
export function placeOutputs(all: readonly StagedOutput[], workspace: RunWorkspace): void {
  const outputs = all.filter(({ stays }) => !stays);
  using backups = new Backups();
  for (const [index, output] of outputs.entries()) {
    try {
      using from = OutputPlace.staged(workspace, output.staged);
      using to = OutputPlace.target(output.target);
      if (output.replaces) assertUnchanged(to, output.replaces);
      // Only an output that may have to move back needs the old content.
      if (output.replaces && outputs.length > 1) backups.keep(output.target, to);
      place(from, to, output.replaces === undefined ? moveWithoutOverwriting : moveOver);
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

/** The path of a staged file after its output is moved to the target. */
export function finalPath(path: string, outputs: readonly StagedOutput[]): string {
  for (const { staged, target, stays } of outputs) {
    const inside = stays ? undefined : pathInside(path, staged);
    if (inside !== undefined) return join(target, inside);
  }
  return path;
}

/** The path where the run has the file that `finalPath` names. */
export function stagedPath(path: string, outputs: readonly StagedOutput[]): string {
  for (const { staged, target, stays } of outputs) {
    const inside = stays ? undefined : pathInside(path, target);
    if (inside !== undefined) return join(staged, inside);
  }
  return path;
}

/** Where a run writes what its tool writes to a path: in the layer, if the path is in one. */
export function writtenAt(path: string, grants: readonly Grant[]): string {
  for (const grant of grants) {
    const inside = grant.from === undefined ? undefined : pathInside(path, grant.path);
    if (inside !== undefined) return join(grant.from!, inside);
  }
  return path;
}

function pathInside(path: string, folder: string): string | undefined {
  const inside = relative(folder, path);
  return inside.startsWith('..') || isAbsolute(inside) ? undefined : inside;
}

/** The old content of replaced files, under a second name beside each, until all outputs are in place. */
class Backups implements Disposable {
  readonly #places = new Map<string, OutputPlace>();

  keep(target: string, place: OutputPlace): void {
    if (place.stats() === undefined) return;
    const backup = place.beside();
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

/** Copies the file that the output replaces. The copy keeps its time, which shows later whether the tool wrote it. */
function copyToReplace({ target, staged }: StagedOutput, workspace: RunWorkspace): ReplacedFile {
  using from = OutputPlace.target(target);
  using to = OutputPlace.staged(workspace, staged);
  const stats = from.stats();
  if (!stats?.isFile()) {
    throw new AcorError('E_CONFLICT', `${target} has been removed or replaced since the run was planned`, {
      hint: 'Run it again.',
    });
  }
  try {
    copyOutput(from, to);
  } catch (error) {
    if (errorCode(error) === 'EACCES') throw unreadable(target, error);
    throw error;
  }
  return replacedFile(stats);
}

function unreadable(target: string, cause: unknown): AcorError {
  return new AcorError('E_PERMISSION', `${target} cannot be read: its mode or its owner denies it`, {
    hint: `The tool gets a copy of the file that it writes. Make it readable for this user: ${shellCommand(['chmod', 'u+r', target])}`,
    cause,
  });
}

function hasContentOf(stats: Stats, { size, mtimeMs }: ReplacedFile): boolean {
  // A time is set in seconds as a fraction, so that of the copy is rounded.
  return stats.isFile() && stats.size === size && Math.abs(stats.mtimeMs - mtimeMs) < 1;
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
    place(from, to, moveWithoutOverwriting);
    backups.restore(target, from);
    return true;
  } catch {
    return false;
  }
}

type Move = (from: OutputPlace, to: OutputPlace) => void;

function place(from: OutputPlace, to: OutputPlace, move: Move): void {
  try {
    move(from, to);
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw error;
    // On another file system: copy beside the target first, so that the target itself appears atomically.
    using beside = to.beside();
    try {
      copyOutput(from, beside);
      move(beside, to);
    } catch (inner) {
      beside.remove();
      throw inner;
    }
    from.remove();
  }
}

/** Replaces a file, which keeps its mode and owner. */
function moveOver(from: OutputPlace, to: OutputPlace): void {
  const stats = from.stats();
  if (!stats?.isFile()) throw new Error('the tool replaced the file by something else');
  const old = to.stats();
  if (old !== undefined) {
    if (process.geteuid?.() === 0) lchownSync(from.path, old.uid, old.gid);
    if (stats.mode !== old.mode) from.folder.hold(from.name, (path) => chmodSync(path, old.mode & 0o7777));
  }
  renameSync(from.path, to.path);
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
