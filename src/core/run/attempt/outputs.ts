import type { Stats } from 'node:fs';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { errorCode } from '../../../util/error-code.ts';
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

/** Whether a file has the size and the time that the runner has noted. */
export function hasContentOf(
  stats: Stats,
  { size, mtimeMs }: Pick<ReplacedFile, 'size' | 'mtimeMs'>,
): boolean {
  // A time is set in seconds as a fraction, so that of the copy is rounded.
  return stats.isFile() && stats.size === size && Math.abs(stats.mtimeMs - mtimeMs) < 1;
}
