import { existsSync, linkSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { errorCode } from './error-code.ts';
import { identify, isRunning, type ProcessIdentity } from './process-table.ts';

const RETRY_MS = 3;
const MAX_RETRY_MS = 25;
const GIVE_UP_MS = 30_000;
/** A lock is held for well under a millisecond; a holder that still has it after this long is asked after. */
const SUSPECT_AFTER_MS = 200;
/** Breaking a lock takes microseconds; a breaker that has not done it by then died over it. */
const BREAKER_IS_DEAD_AFTER_MS = 5_000;

let counter = 0;

/**
 * Holds a lock file while `work` runs. There is no flock in the runtimes' file API, so the lock is a file that appears
 * whole, by a hard link, and names its holder; the lock of a dead holder is broken by one waiter at a time.
 */
export async function withFileLock<T>(path: string, work: () => T): Promise<T> {
  const begun = performance.now();
  // A waiter makes no file while the lock is there: many that wait do not slow down the one that works.
  for (
    let pauseMs = RETRY_MS;
    existsSync(path) || !tryLock(path);
    pauseMs = Math.min(pauseMs * 1.2, MAX_RETRY_MS)
  ) {
    const waitedMs = performance.now() - begun;
    if (waitedMs > GIVE_UP_MS) {
      throw Object.assign(new Error(`the lock is held for too long: ${path}`), { code: 'ETIMEDOUT' });
    }
    if (waitedMs > SUSPECT_AFTER_MS) breakIfDead(path);
    await new Promise((resolve) => setTimeout(resolve, pauseMs * (0.5 + Math.random())));
  }
  try {
    return work();
  } finally {
    rmSync(path, { force: true });
  }
}

function tryLock(path: string): boolean {
  const own = `${path}.${process.pid}-${counter++}`;
  try {
    writeFileSync(own, JSON.stringify(identify(process.pid)), { flag: 'wx' });
    linkSync(own, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

function breakIfDead(path: string): void {
  if (!isHeldByDead(path)) return;
  const breaker = `${path}.break`;
  if (!tryLock(breaker)) {
    if (ageMs(breaker) > BREAKER_IS_DEAD_AFTER_MS && isHeldByDead(breaker)) rmSync(breaker, { force: true });
    return;
  }
  try {
    // Looked at again: another breaker may have been quicker, and somebody may hold the lock anew.
    if (isHeldByDead(path)) rmSync(path, { force: true });
  } finally {
    rmSync(breaker, { force: true });
  }
}

/**
 * Whether the holder died over it. A holder that has let go may exit at once and be found dead, too, while the lock is another's
 * by then; only a lock that is still in the name of a dead process is one that nobody will ever release.
 */
function isHeldByDead(path: string): boolean {
  try {
    const holder = readFileSync(path, 'utf8');
    return !isRunning(parseIdentity(holder)) && readFileSync(path, 'utf8') === holder;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

/** What this code did not write names nobody who could be asked. */
function parseIdentity(text: string): ProcessIdentity {
  try {
    return JSON.parse(text) as ProcessIdentity;
  } catch {
    return { pid: 0, start_time: 0, boot_id: null };
  }
}

function ageMs(path: string): number {
  try {
    // A clock that was set back makes it come out below zero.
    return Math.abs(Date.now() - statSync(path).mtimeMs);
  } catch {
    return 0;
  }
}
