import { closeSync, fstatSync, readSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { isInside } from '../../../util/real-path.ts';
import { openRegular } from '../../../util/regular-file.ts';

const MAX_STORED = 1_048_576;
const MAX_TEXT = 2 * MAX_STORED;

/**
 * The text of a file below a folder, packed with gzip or not. Undefined if it does not exist, if a link leads out of the
 * folder, when it is no regular file, or when it is too large.
 */
export function boundedText(folder: string, name: string): string | undefined {
  try {
    const real = realpathSync(join(folder, name));
    if (!isInside(real, realpathSync(folder))) return undefined;
    const bytes = boundedBytes(real);
    if (bytes === undefined) return undefined;
    const isPacked = real.endsWith('.gz');
    return (isPacked ? gunzipSync(bytes, { maxOutputLength: MAX_TEXT }) : bytes).toString('utf8');
  } catch {
    return undefined;
  }
}

function boundedBytes(path: string): Buffer | undefined {
  const fd = openRegular(path);
  try {
    const { size } = fstatSync(fd);
    if (size > MAX_STORED) return undefined;
    const bytes = Buffer.alloc(size);
    return bytes.subarray(0, readSync(fd, bytes));
  } finally {
    closeSync(fd);
  }
}
