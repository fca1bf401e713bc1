import { rmSync } from 'node:fs';

/** Removes a file that does no harm if it stays, as it does on a read-only disk. */
export function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {}
}
