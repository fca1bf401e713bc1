import { readFileSync } from 'node:fs';
import type { RunUser } from '../sandbox.ts';
import { FIRST_RUN_UID, LAST_RUN_UID } from './run-user-range.ts';

let known: boolean | undefined;

/** CAP_CHOWN, CAP_SETGID and CAP_SETUID, as bits of a process's capabilities. */
const NEEDED_CAPABILITIES = 0b1100_0001n;

/**
 * Whether this process is root and can switch to other users. Root of a single-user namespace cannot. A privileged tool
 * of root runs as root without capabilities.
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
    // Without /proc or Linux there is no sandbox that needs the answer.
    return false;
  }
}

/**
 * The user of root's privileged tool: root without its capabilities. Everything that root owns is in its reach, and
 * another user could not enter folders that only root may enter.
 */
export const ROOT: RunUser = { uid: 0, gid: 0 };
