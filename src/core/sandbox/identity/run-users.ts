import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { errorCode, errorMessage } from '../../../util/error-code.ts';
import { removeFile } from '../../../util/files.ts';
import { identify, isRunning, type ProcessIdentity } from '../../../util/process-table.ts';
import type { RunUser } from '../sandbox.ts';

const TRIES = 200;
/** Only root can write here, and a reboot empties it. */
const CLAIMS = '/run/acor-users';

/** Reserves a Unix user that no other run of this machine has now. */
export function claimRunUser(): { uid: number; release(): void } {
  const accounts = accountNumbers();
  try {
    mkdirSync(CLAIMS, { recursive: true, mode: 0o700 });
    for (let round = 0; round < TRIES; round++) {
      const uid = FIRST_RUN_UID + Math.floor(Math.random() * (LAST_RUN_UID + 1 - FIRST_RUN_UID));
      const path = join(CLAIMS, String(uid));
      if (!accounts.has(uid) && claim(path)) return { uid, release: () => removeFile(path) };
    }
  } catch (error) {
    throw noUser(errorMessage(error));
  }
  throw noUser('all are taken');
}

function claim(path: string): boolean {
  const owner = JSON.stringify(identify(process.pid));
  for (;;) {
    try {
      writeFileSync(path, owner, { flag: 'wx', mode: 0o600 });
      return true;
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
      if (!isOfDead(path)) return false;
      removeFile(path);
    }
  }
}

function isOfDead(path: string): boolean {
  try {
    return !isRunning(JSON.parse(readFileSync(path, 'utf8')) as ProcessIdentity);
  } catch {
    // The file is being written, or was released a moment ago.
    return false;
  }
}

function accountNumbers(): Set<number> {
  try {
    const lines = readFileSync('/etc/passwd', 'utf8').split('\n');
    return new Set(lines.map((line) => Number(line.split(':')[2])));
  } catch {
    return new Set();
  }
}

function noUser(why: string): AcorError {
  return new AcorError(
    'E_SANDBOX_UNAVAILABLE',
    `no Unix user could be reserved for the run in ${CLAIMS}: ${why}`,
    {
      hint: `Check that root can write to ${CLAIMS}, or run ACOR as an ordinary user.`,
    },
  );
}

/** Uids without an account: the range of systemd's dynamic users. */
export const FIRST_RUN_UID = 61_184;
export const LAST_RUN_UID = 65_519;

/** Whether a uid is in the range that runs get. */
export function isRunUser(uid: number): boolean {
  return uid >= FIRST_RUN_UID && uid <= LAST_RUN_UID;
}

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
    const status = readFileSync('/proc/self/status', 'utf8');
    const at = status.indexOf('\nCapEff:\t');
    if (at === -1) return false;
    const from = at + '\nCapEff:\t'.length;
    const effective = BigInt(`0x${status.slice(from, status.indexOf('\n', from))}`);
    return (effective & NEEDED_CAPABILITIES) === NEEDED_CAPABILITIES;
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
