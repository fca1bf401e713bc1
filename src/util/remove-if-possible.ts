import { rmSync } from 'node:fs';

/** Removes a file that is in nobody's way: on a read-only disk it stays. */
export function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {}
}
