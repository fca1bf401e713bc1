import { existsSync, linkSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { errorCode } from './error-code.ts';
import { removeFile } from './files.ts';
import { pause } from './pause.ts';
import { ownIdentity, type ProcessOwner, stateOfOwner } from './process-owner.ts';
import { readRegular } from './regular-file.ts';

const RETRY_MS = 3;
const MAX_RETRY_MS = 25;
const GIVE_UP_MS = 30_000;
/** Locks are held for well under a millisecond. After this long, a waiter checks whether the holder is alive. */
const SUSPECT_AFTER_MS = 200;
/** Breaking a lock takes microseconds. A breaker that needs longer has died. */
const BREAKER_IS_DEAD_AFTER_MS = 5_000;
/**
 * A holder on another host or in another PID namespace cannot be checked; only the age of its lock shows that it died.
 */
const HOLDER_ELSEWHERE_IS_DEAD_AFTER_MS = 15_000;

let counter = 0;

/**
 * Holds a lock file while `work` runs. The runtimes' file API has no flock, so the lock is a file that appears
 * atomically by a hard link and names its holder. One waiter at a time breaks the lock of a dead holder.
 */
export async function withFileLock<T>(path: string, work: () => T | Promise<T>): Promise<T> {
  const begun = performance.now();
  // A waiter creates no file while the lock exists, so that many waiters do not slow down the holder.
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
    await pause(pauseMs * (0.5 + Math.random()));
  }
  try {
    return await work();
  } finally {
    removeFile(path);
  }
}

/**
 * Takes a lock for as long as the process wants; returns the function that releases it, and undefined when another process holds it. The
 * lock of a dead holder is broken. While it is held its time is renewed, so that other hosts see that the holder lives.
 */
export function tryFileLock(path: string): (() => void) | undefined {
  breakIfDead(path);
  if (existsSync(path) || !tryLock(path)) return undefined;
  const sign = setInterval(() => {
    const now = new Date();
    try {
      utimesSync(path, now, now);
    } catch {
      // The folder was removed.
    }
  }, HOLDER_ELSEWHERE_IS_DEAD_AFTER_MS / 3);
  sign.unref();
  return () => {
    clearInterval(sign);
    removeFile(path);
  };
}

/** Whether a process that lives holds the lock. */
export function isLocked(path: string): boolean {
  return existsSync(path) && !isHeldByDead(path);
}

function tryLock(path: string): boolean {
  const own = `${path}.${process.pid}-${counter++}`;
  try {
    writeFileSync(own, JSON.stringify(ownIdentity()), { flag: 'wx' });
    linkSync(own, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    removeFile(own);
  }
}

function breakIfDead(path: string): void {
  if (!isHeldByDead(path)) return;
  const breaker = `${path}.break`;
  if (!tryLock(breaker)) {
    if (ageMs(breaker) > BREAKER_IS_DEAD_AFTER_MS && isHeldByDead(breaker)) removeFile(breaker);
    return;
  }
  try {
    // Read it again: another breaker may have been faster, and a new holder may have the lock.
    if (isHeldByDead(path)) removeFile(path);
  } finally {
    removeFile(breaker);
  }
}

/**
 * Whether the holder died while it held the lock. A holder may release the lock, exit and be found dead while another
 * process holds the lock. So the lock is read again and must still name the dead process.
 */
function isHeldByDead(path: string): boolean {
  try {
    const holder = readRegular(path).toString();
    return isDead(path, holder) && readRegular(path).toString() === holder;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

function isDead(path: string, holder: string): boolean {
  const owner = parseOwner(holder);
  // Another program or an earlier build wrote the lock, so its holder is unknown and it is never broken.
  if (owner === undefined) return true;
  switch (stateOfOwner(owner)) {
    case 'running':
      return false;
    case 'gone':
      return true;
    case 'elsewhere':
      return ageMs(path) > HOLDER_ELSEWHERE_IS_DEAD_AFTER_MS;
  }
}

function parseOwner(text: string): ProcessOwner | undefined {
  try {
    const owner = JSON.parse(text);
    return typeof owner?.host === 'string' ? owner : undefined;
  } catch {
    return undefined;
  }
}

function ageMs(path: string): number {
  try {
    // Negative when the clock was set back.
    return Math.abs(Date.now() - statSync(path).mtimeMs);
  } catch {
    return 0;
  }
}
