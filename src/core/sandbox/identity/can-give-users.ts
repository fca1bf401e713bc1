import { readFileSync } from 'node:fs';
import { FIRST_RUN_UID, LAST_RUN_UID } from './run-user-range.ts';

let known: boolean | undefined;

/** Whether this process is root and may be others too: a namespace of one user has a root that may not. */
export function canGiveUsers(): boolean {
  known ??= process.getuid?.() === 0 && mapsRange('/proc/self/uid_map') && mapsRange('/proc/self/gid_map');
  return known;
}

function mapsRange(path: string): boolean {
  try {
    const lines = readFileSync(path, 'utf8').trim().split('\n');
    return lines.some((line) => {
      const [first = 0, , count = 0] = line.trim().split(/\s+/).map(Number);
      return first <= FIRST_RUN_UID && first + count > LAST_RUN_UID;
    });
  } catch {
    // No /proc, or no Linux: then there is no sandbox that would ask.
    return false;
  }
}
