import { AcorError } from '../../protocol/acor-error.ts';
import { PREVIEW_CLEAN, SEE_HEALTH } from '../../protocol/next-steps.ts';
import { errorCode, errorMessage } from '../../util/error-code.ts';

/** Tells of a failed write to the store: E_DISK_FULL when there is no space, E_STORAGE for all else. */
export function storageError(error: unknown, what: string, path: string): AcorError {
  if (error instanceof AcorError) return error;
  switch (errorCode(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return new AcorError('E_DISK_FULL', `no space left to ${what}: ${path}`, {
        hint: 'Free space, for instance by removing old runs; or point project.runs_dir to another disk.',
        next: [PREVIEW_CLEAN],
        cause: error,
      });
    case 'EROFS':
      return new AcorError(
        'E_STORAGE',
        `the file system is read-only, so it is not possible to ${what}: ${path}`,
        {
          hint: 'Mount it writable (mount -o remount,rw), or set project.runs_dir to a folder that is (ACOR_PROJECT_RUNS_DIR=…).',
          next: [SEE_HEALTH],
          cause: error,
        },
      );
    case 'EACCES':
    case 'EPERM':
      return new AcorError('E_STORAGE', `not permitted to ${what}: ${path}`, {
        hint: `Make it writable for this user (chmod u+rwx '${path}'), or set project.runs_dir to a folder that is (ACOR_PROJECT_RUNS_DIR=…).`,
        next: [SEE_HEALTH],
        cause: error,
      });
    case 'EFBIG':
      return new AcorError(
        'E_STORAGE',
        `a file may not grow so large, so it is not possible to ${what}: ${path}`,
        {
          hint: 'Raise the limit of the shell that ACOR is started from: ulimit -f unlimited',
          next: [SEE_HEALTH],
          cause: error,
        },
      );
    default:
      return new AcorError('E_STORAGE', `cannot ${what}: ${path}: ${errorMessage(error)}`, {
        next: [SEE_HEALTH],
        cause: error,
      });
  }
}
