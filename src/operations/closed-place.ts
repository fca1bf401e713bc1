import { existsSync } from 'node:fs';
import { findProject } from '../core/config/find.ts';
import { accessFix } from '../core/store-files/storage-error.ts';
import { AcorError } from '../protocol/acor-error.ts';
import { errorCode } from '../util/error-code.ts';

/** Throws E_INPUT_NOT_FOUND when the folder in which a server works is gone: it would make a new one for its runs. */
export function refuseMissingFolder(cwd: string): void {
  if (existsSync(cwd) || findProject(cwd).isProject) return;
  throw new AcorError('E_INPUT_NOT_FOUND', `the folder of this server does not exist any more: ${cwd}`, {
    hint: 'Move the folder back, or stop the server and start it in the folder where the project is now.',
  });
}

/** A file or folder that the system refused to this user, as E_STORAGE with the fix; any other error as it is. */
export function describeClosed(error: unknown): unknown {
  const { path } = error as { path?: unknown };
  if (!['EACCES', 'EPERM'].includes(errorCode(error) ?? '') || typeof path !== 'string') return error;
  return new AcorError('E_STORAGE', `permission denied: ${path}`, {
    hint: `${accessFix(path)}.`,
    cause: error,
  });
}
