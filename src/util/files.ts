import { statSync, unlinkSync } from 'node:fs';
import { errorCode } from './error-code.ts';

/** Whether a path is a regular file, following links; false when it cannot be read. */
export function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Removes a file that may not exist. `rmSync` would ask for the kind of the path first. */
export function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

/** Removes a file that does no harm if it stays, as it does on a read-only disk. */
export function removeIfPossible(path: string): void {
  try {
    unlinkSync(path);
  } catch {}
}
