import { closeSync, constants, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { writeFully } from '../../util/atomic-write.ts';
import { newSpanId } from '../../util/ids.ts';

/** Opens an unlinked file with `data`, which the process that gets the descriptor reads from its beginning. */
export function scratchFile(folder: string, data: string | Uint8Array = ''): number {
  const path = join(folder, `scratch-${newSpanId()}`);
  const { O_RDWR, O_CREAT, O_EXCL, O_APPEND, O_NOFOLLOW } = constants;
  const writer = openSync(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
  try {
    writeFully(writer, typeof data === 'string' ? Buffer.from(data) : data);
    return openSync(path, O_RDWR | O_APPEND | O_NOFOLLOW);
  } finally {
    closeSync(writer);
    rmSync(path, { force: true });
  }
}
