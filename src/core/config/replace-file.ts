import { realpathSync, statSync } from 'node:fs';
import { AcorError } from '../../protocol/acor-error.ts';
import { writeAtomic } from '../../util/atomic-write.ts';
import { errorCode } from '../../util/error-code.ts';

/**
 * Replaces the text of a user's file atomically, keeps its mode, and writes through a link. With `as`, writes a file of
 * that name beside it instead. Throws E_PERMISSION and E_DISK_FULL.
 */
export function replaceFile(file: string, text: string, as?: string): void {
  try {
    const mode = statSync(file).mode & 0o777;
    writeAtomic(as ?? realpathSync(file), text, { durable: true, mode });
  } catch (error) {
    const code = errorCode(error);
    if (code === undefined) throw error;
    const isFull = code === 'ENOSPC' || code === 'EDQUOT';
    throw new AcorError(
      isFull ? 'E_DISK_FULL' : 'E_PERMISSION',
      `${as ?? file} cannot be written (${code})`,
      {
        hint: isFull
          ? 'Free space, then run it again.'
          : 'Make the file and its folder writable, then run it again.',
        cause: error,
      },
    );
  }
}
