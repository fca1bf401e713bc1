import { readErrorCodes } from '../../../registry/error-codes.ts';
import { WatchedFiles } from '../../../registry/watched-files.ts';
import type { Checker } from '../checker.ts';
import { problemsOf } from '../problems-of.ts';

/** The project's own error codes. */
export const errorCodes: Checker = {
  name: 'error-codes',
  async check({ errorCodeFiles }) {
    const found = errorCodeFiles.map((file) => problemsOf(() => readErrorCodes([file], new WatchedFiles())));
    return (await Promise.all(found)).flat();
  },
};
