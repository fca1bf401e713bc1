import { existsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { PREVIEW_CLEAN, SEE_HEALTH, VERIFY } from '../../protocol/next-steps.ts';
import { errorCode, errorMessage } from '../../util/error-code.ts';
import { NOT_REGULAR } from '../../util/regular-file.ts';
import { shellCommand } from '../../util/shell-words.ts';
import { giveCommand, isForOwnGroup, isWithinOwnFolder, otherOwnerOf } from '../../util/users.ts';

const PERMISSION_BITS = 0o7777;

/** Describes a failed access to the store: E_DISK_FULL when there is no space, otherwise E_STORAGE. `what` completes "cannot …". */
export function storageError(error: unknown, what: string, path: string): AcorError {
  if (error instanceof AcorError) return error;
  switch (errorCode(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new AcorError('E_DISK_FULL', `no space left to ${what}: ${path}`, {
        hint: 'Free disk space, for example by removing old runs; or set project.runs_dir to a folder on another disk.',
        next: [PREVIEW_CLEAN],
        cause: error,
      });
    case 'EROFS':
      return new AcorError('E_STORAGE', `the file system is read-only: cannot ${what}: ${path}`, {
        hint: 'Mount it writable (mount -o remount,rw), or set project.runs_dir to a writable folder (ACOR_PROJECT_RUNS_DIR=…).',
        next: [SEE_HEALTH],
        cause: error,
      });
    case 'EACCES':
    case 'EPERM':
      return new AcorError('E_STORAGE', `permission denied: cannot ${what}: ${path}`, {
        hint: `${accessFix(path)}, or set project.runs_dir to a writable folder (ACOR_PROJECT_RUNS_DIR=…).`,
        next: [SEE_HEALTH],
        cause: error,
      });
    case 'EMFILE':
    case 'ENFILE':
      return new AcorError('E_STORAGE', `too many open files: cannot ${what}: ${path}`, {
        hint: 'Start fewer runs at a time in one process, or raise the limit in the shell that starts it: ulimit -n 4096',
        next: [SEE_HEALTH],
        cause: error,
      });
    case 'EFBIG':
      return new AcorError(
        'E_STORAGE',
        `the file would exceed the file size limit (ulimit -f): cannot ${what}: ${path}`,
        {
          hint: 'Raise the limit in the shell that starts ACOR: ulimit -f unlimited',
          next: [SEE_HEALTH],
          cause: error,
        },
      );
    case 'EIO':
      return new AcorError('E_STORAGE', `cannot ${what}: ${path}: ${errorMessage(error)}`, {
        hint: 'The disk reports an error, so what was written last may be lost. Look for its cause in the log of the kernel (dmesg), then check the records of all runs.',
        next: [VERIFY, SEE_HEALTH],
        cause: error,
      });
    default:
      return new AcorError('E_STORAGE', `cannot ${what}: ${path}: ${errorMessage(error)}`, {
        ...movedAway(error),
        next: [SEE_HEALTH],
        cause: error,
      });
  }
}

/** The fix for a link in the store: it and what it leads to are kept. */
function movedAway(error: unknown): { hint?: string } {
  const { code, path } = error as { code?: unknown; path?: unknown };
  return code === NOT_REGULAR && typeof path === 'string'
    ? { hint: `Move the link away: ${shellCommand(['mv', path, `${path}.old`])}` }
    : {};
}

/** Whether a write failed for lack of space. */
export function isDiskFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT', 'E_DISK_FULL'].includes(errorCode(error) ?? '');
}

/** Does work that only tidies up, and that a later command does again: a full disk does not keep the caller from its own work. */
export async function unlessFull(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isDiskFull(error)) throw error;
  }
}

/** How this user gets access to a path, or to the folder in which it would be. */
export function accessFix(wanted: string): string {
  const path = existing(wanted);
  const owner = otherOwnerOf(path);
  if (owner === undefined) {
    const mode = ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & PERMISSION_BITS)
      .toString(8)
      .padStart(3, '0');
    return `${path} has the mode ${mode}: make it writable for this user (chmod u+rwx '${path}')`;
  }
  if (isForOwnGroup(path))
    return `It belongs to ${owner}. As ${owner} or as root, let its group write it (${shellCommand(['chmod', 'g+w', path])})`;
  // A folder of the system, or a project of another user, stays theirs.
  if (!isWithinOwnFolder(path)) return `${path} belongs to ${owner}. Work in a folder of this user`;
  return `It belongs to ${owner}. Do this as ${owner}, or as root give it to this user (${giveCommand(path)})`;
}

/** The path, or the folder that keeps this user from it: nothing can be seen in one that is closed. */
function existing(path: string): string {
  const folder = dirname(path);
  return existsSync(path) || folder === path ? path : existing(folder);
}
