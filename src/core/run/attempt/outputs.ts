import {
  chmodSync,
  chownSync,
  constants,
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  utimesSync,
} from 'node:fs';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { writeAtomic } from '../../../util/atomic-write.ts';
import { errorCode, errorMessage } from '../../../util/error-code.ts';
import { newSpanId } from '../../../util/ids.ts';
import { shellCommand } from '../../../util/shell-words.ts';
import type { StagedOutput } from '../../registry/arguments.ts';
import { type ReplacedFile, replacedFile } from '../../registry/path-grants.ts';
import type { RunWorkspace } from '../workspace.ts';

/** The files that the outputs of a run replace, by target, as the first attempt found them. */
type Replaced = Record<string, ReplacedFile>;

/**
 * Creates the folders in which a tool writes its staged outputs, and the copies of files that they replace. A later attempt finds what
 * the earlier one left. Returns the outputs with the state of the files that the first attempt copied.
 */
export function prepareStaging(
  staged: readonly StagedOutput[],
  { control }: Pick<RunWorkspace, 'control'>,
): StagedOutput[] {
  for (const output of staged) mkdirSync(dirname(output.staged), { recursive: true });
  if (!staged.some(({ replaces }) => replaces)) return [...staged];
  const record = join(control, 'replaced.json');
  const known = readReplaced(record);
  const prepared = staged.map((output) => {
    const { target, replaces } = output;
    if (replaces === undefined) return output;
    known[target] ??= copyToReplace(output);
    return { ...output, replaces: known[target] };
  });
  writeAtomic(record, JSON.stringify(known));
  return prepared;
}

/** The size of the copies, which the tool has not written. */
export function copiedBytes(staged: readonly StagedOutput[]): number {
  return staged.reduce((sum, { replaces }) => sum + (replaces?.size ?? 0), 0);
}

/** The staged outputs that the tool wrote. A copy that it did not change is none. */
export function writtenOutputs(staged: readonly StagedOutput[]): StagedOutput[] {
  return staged.filter(({ staged: path, replaces }) => {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    return stats !== undefined && !(replaces && hasContentOf(stats, replaces));
  });
}

/** Forgets the files that were replaced: the run is complete. */
export function endStaging({ control }: Pick<RunWorkspace, 'control'>): void {
  rmSync(join(control, 'replaced.json'), { force: true });
}

/**
 * Moves the outputs of a completed run to their targets (contract §5): each atomically, and all or none. A target that appeared or changed
 * while the run worked is not overwritten: then all outputs stay in the workspace, and the error has the commands that move them.
 */
export function placeOutputs(all: readonly StagedOutput[]): void {
  const outputs = all.filter(({ stays }) => !stays);
  const backups = new Map<string, string>();
  for (const [index, output] of outputs.entries()) {
    try {
      mkdirSync(dirname(output.target), { recursive: true });
      if (output.replaces) assertUnchanged(output.target, output.replaces);
      // Only an output that may have to move back needs the old content.
      if (output.replaces && outputs.length > 1) backups.set(output.target, keepBeside(output.target));
      place(output.staged, output.target, output.replaces !== undefined);
    } catch (error) {
      const moved = outputs.slice(0, index).filter((each) => moveBack(each, backups.get(each.target)));
      const kept = [...moved, ...outputs.slice(index)];
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
  for (const backup of backups.values()) rmSync(backup, { force: true });
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

function pathInside(path: string, folder: string): string | undefined {
  const inside = relative(folder, path);
  return inside.startsWith('..') || isAbsolute(inside) ? undefined : inside;
}

/** Copies the file that the output replaces. The copy keeps its time, which shows later whether the tool wrote it. */
function copyToReplace({ target, staged }: StagedOutput): ReplacedFile {
  const before = lstatSync(target);
  // The exclusive flag follows no link that an earlier attempt left there.
  copyFileSync(target, staged, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL);
  utimesSync(staged, before.atimeMs / 1000, before.mtimeMs / 1000);
  return replacedFile(before);
}

function readReplaced(path: string): Replaced {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    return {};
  }
}

function hasContentOf(stats: Stats, { size, mtimeMs }: ReplacedFile): boolean {
  // `utimes` takes seconds as a fraction, so the copy's time is rounded.
  return stats.isFile() && stats.size === size && Math.abs(stats.mtimeMs - mtimeMs) < 1;
}

function assertUnchanged(target: string, replaces: ReplacedFile): void {
  const stats = lstatSync(target, { throwIfNoEntry: false });
  if (stats === undefined) return;
  if (stats.ino !== replaces.ino || !hasContentOf(stats, replaces))
    throw Object.assign(new Error('changed'), { code: 'ESTALE' });
}

/** Keeps the old content under a second name. A file system without hard links gets a copy. */
function keepBeside(target: string): string {
  const backup = join(dirname(target), `.acor-${newSpanId()}`);
  try {
    linkSync(target, backup);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return backup;
    copyFileSync(target, backup, constants.COPYFILE_FICLONE);
  }
  return backup;
}

/** Moves a placed output back to the workspace, and the old content to its target: a failed run changes no output. False when that fails. */
function moveBack({ staged, target }: StagedOutput, backup: string | undefined): boolean {
  try {
    place(target, staged, false);
    if (backup !== undefined && existsSync(backup)) renameSync(backup, target);
    return true;
  } catch {
    return false;
  }
}

function place(from: string, to: string, replaces: boolean): void {
  const move = replaces ? moveOver : moveWithoutOverwriting;
  try {
    move(from, to);
  } catch (error) {
    if (errorCode(error) !== 'EXDEV') throw error;
    // On another file system: copy beside the target first, so that the target itself appears atomically.
    const beside = join(dirname(to), `.acor-${newSpanId()}`);
    try {
      cpSync(from, beside, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
      move(beside, to);
    } catch (inner) {
      rmSync(beside, { recursive: true, force: true });
      throw inner;
    }
    rmSync(from, { recursive: true, force: true });
  }
}

/** Replaces a file, which keeps its mode and owner. */
function moveOver(from: string, to: string): void {
  const stats = lstatSync(from);
  if (!stats.isFile()) throw new Error('the tool replaced the file by something else');
  const old = lstatSync(to, { throwIfNoEntry: false });
  if (old !== undefined) {
    if (process.geteuid?.() === 0) chownSync(from, old.uid, old.gid);
    if (stats.mode !== old.mode) chmodSync(from, old.mode & 0o7777);
  }
  renameSync(from, to);
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
  switch (errorCode(error)) {
    case 'EEXIST':
      return 'another process created it while the run worked';
    case 'ESTALE':
      return 'another process changed it while the run worked';
    default:
      return errorMessage(error);
  }
}
