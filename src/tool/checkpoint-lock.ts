import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { ToolError } from './tool-error.ts';
import { blockForMs } from './write-line.ts';

const STALE_AFTER_MS = 60_000;
/** The owner writes immediately after it creates the file: an owner that left it empty was killed in between. */
const STALE_EMPTY_AFTER_MS = 1000;
const GIVE_UP_AFTER_MS = 90_000;
const RETRY_MS = 2;
/** Longer than a rival that considered the same lock stale needs to create its own. */
const SETTLE_MS = 20;

/** A lock file with `<pid> <attempt> <token>`, in the same format in the SDKs of all languages. */
export interface CheckpointLock {
  /** Whether this lock replaced a stale one, whose owner may have left files behind. */
  readonly brokeStale: boolean;
  isStillOurs(): boolean;
  release(): void;
}

/** Takes the lock. A lock whose owner is dead, belongs to an earlier attempt, or is a minute old is broken. */
export function takeCheckpointLock(path: string): CheckpointLock {
  const ours = `${process.pid} ${attempt()} ${randomBytes(6).toString('hex')}\n`;
  const isStillOurs = (): boolean => readIfThere(path) === ours;
  const release = (): void => {
    if (isStillOurs()) rmSync(path, { force: true });
  };
  const giveUpMs = performance.now() + GIVE_UP_AFTER_MS;
  for (;;) {
    if (create(path, ours)) return { brokeStale: false, isStillOurs, release };
    if (isStale(path)) {
      replace(path, ours);
      blockForMs(SETTLE_MS);
      if (isStillOurs()) return { brokeStale: true, isStillOurs, release };
    }
    if (performance.now() > giveUpMs) {
      throw new ToolError(
        'E_STORAGE',
        `the checkpoint lock ${path} is held by another process`,
        `rm '${path}'`,
      );
    }
    blockForMs(RETRY_MS);
  }
}

function attempt(): string {
  return process.env['ACOR_ATTEMPT'] || '-';
}

function create(path: string, text: string): boolean {
  let fd: number;
  try {
    fd = openSync(path, 'wx');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
  try {
    writeFileSync(fd, text);
    return true;
  } catch (error) {
    // An empty file would block the next process.
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(fd);
  }
}

function replace(path: string, text: string): void {
  const draft = `${path}.${text.trim().replaceAll(' ', '.')}`;
  try {
    writeFileSync(draft, text, { flag: 'wx' });
    renameSync(draft, path);
  } catch (error) {
    if (existsSync(draft)) rmSync(draft, { force: true });
    throw error;
  }
}

function isStale(path: string): boolean {
  const age = ageMs(path);
  if (age === undefined) return false;
  const [pid, ownerAttempt] = (readIfThere(path) ?? '').split(' ');
  if (!pid || ownerAttempt === undefined) return age > STALE_EMPTY_AFTER_MS;
  return ownerAttempt !== attempt() || !isAlive(Number(pid)) || age > STALE_AFTER_MS;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function ageMs(path: string): number | undefined {
  const mtimeMs = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return mtimeMs === undefined ? undefined : Date.now() - mtimeMs;
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
