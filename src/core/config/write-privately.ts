import { AcorError } from '../../protocol/acor-error.ts';
import { errorCode, errorMessage } from '../../util/error-code.ts';
import { dataFolderFix } from '../../util/home-folder.ts';
import type { PrivateFiles } from '../../util/private-files.ts';

/** Stores a person's decision, such as `the approval`. Throws E_STORAGE when it cannot be stored safely. */
export function writePrivately<T>(files: PrivateFiles<T>, name: string, content: T, what: string): void {
  const { folder } = files;
  let isWritten: boolean;
  try {
    isWritten = files.write(name, content);
  } catch (error) {
    throw notStored(what, folder, error);
  }
  if (isWritten) return;
  throw new AcorError(
    'E_STORAGE',
    `other users can write to ${folder}, so ACOR does not store ${what} there`,
    {
      hint: `Restrict it to your user: chmod 700 '${folder}'`,
    },
  );
}

/** E_STORAGE for a folder of the user's data that cannot be written. */
export function notStored(what: string, folder: string, error: unknown): AcorError {
  if (error instanceof AcorError) return error;
  const why = errorCode(error) ?? errorMessage(error);
  return new AcorError('E_STORAGE', `${what} could not be stored in ${folder}: ${why}`, {
    hint: dataFolderFix(folder),
    cause: error,
  });
}
