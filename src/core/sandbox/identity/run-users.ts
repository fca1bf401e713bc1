import { randomInt } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AcorError } from '../../../protocol/acor-error.ts';
import { errorCode, errorMessage } from '../../../util/error-code.ts';
import { identify, isRunning, type ProcessIdentity } from '../../../util/process-table.ts';
import { FIRST_RUN_UID, LAST_RUN_UID } from './run-user-range.ts';

const TRIES = 200;
/** Only root can write here, and a reboot empties it. */
const CLAIMS = '/run/acor-users';

/** Reserves a Unix user that no other run of this machine has now. */
export function claimRunUser(): { uid: number; release(): void } {
  const accounts = accountNumbers();
  try {
    mkdirSync(CLAIMS, { recursive: true, mode: 0o700 });
    for (let round = 0; round < TRIES; round++) {
      const uid = randomInt(FIRST_RUN_UID, LAST_RUN_UID + 1);
      const path = join(CLAIMS, String(uid));
      if (!accounts.has(uid) && claim(path)) return { uid, release: () => rmSync(path, { force: true }) };
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
      rmSync(path, { force: true });
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
