import { readFileSync } from 'node:fs';
import type { RunUser } from '../sandbox.ts';
import { FIRST_RUN_UID, LAST_RUN_UID } from './run-user-range.ts';

let known: boolean | undefined;

/** CAP_CHOWN, CAP_SETGID and CAP_SETUID, as bits of the capabilities that a process has. */
const NEEDED_CAPABILITIES = 0b1100_0001n;

/**
 * Whether this process is root and may be others too: a namespace of one user has a root that may not, and a privileged tool of root's is
 * root without its powers.
 */
export function canGiveUsers(): boolean {
  known ??=
    process.getuid?.() === 0 &&
    mapsRange('/proc/self/uid_map') &&
    mapsRange('/proc/self/gid_map') &&
    hasCapabilities();
  return known;
}

function hasCapabilities(): boolean {
  try {
    const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
    return (
      effective !== undefined && (BigInt(`0x${effective}`) & NEEDED_CAPABILITIES) === NEEDED_CAPABILITIES
    );
  } catch {
    return false;
  }
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

/**
 * Whom a privileged tool of root's is: root, without its powers, because everything of root's is within its reach and another user could not
 * even enter the folders that are root's alone.
 */
export const ROOT: RunUser = { uid: 0, gid: 0 };
