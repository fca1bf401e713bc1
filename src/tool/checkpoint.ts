import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { takeCheckpointLock } from './checkpoint-lock.ts';
import { exactJson } from './exact-json.ts';
import { checkpointDir } from './run-context.ts';
import { assertFileName, ToolError } from './tool-error.ts';

interface StoredCheckpoint {
  stage: string;
  version: number;
  data: unknown;
}

/**
 * Saves a stage's state durably (contract §6) and returns its version, which counts up. Throws E_DISK_FULL, E_STORAGE, or
 * E_USAGE for a state that JSON cannot hold; the previously saved state is kept then.
 */
export function saveCheckpoint(stage: string, data: unknown): number {
  assertFileName('checkpoint stage', stage);
  const dir = checkpointDir();
  const json = exactJson(`the state of the checkpoint '${stage}'`, data);
  try {
    return save(dir, stage, json);
  } catch (error) {
    const cause = error as NodeJS.ErrnoException;
    throw cause.syscall === undefined ? error : cannotSave(stage, dir, cause);
  }
}

function save(dir: string, stage: string, json: string): number {
  mkdirSync(dir, { recursive: true });
  for (;;) {
    const lock = takeCheckpointLock(join(dir, `.${stage}.lock`));
    const draft = join(dir, `.${stage}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`);
    try {
      if (lock.brokeStale) removeDrafts(dir, stage);
      const version = (readStored(dir, stage)?.version ?? 0) + 1;
      const about = JSON.stringify({ stage, version, saved_at: new Date().toISOString() });
      writeDurably(draft, `${about.slice(0, -1)},"data":${json}}\n`);
      if (!lock.isStillOurs()) continue;
      renameSync(draft, join(dir, `${stage}.json`));
      syncDir(dir);
      return version;
    } finally {
      rmSync(draft, { force: true });
      lock.release();
    }
  }
}

/** The last saved state, or `undefined` when this stage has none. Throws for a truncated or foreign file. */
export function loadCheckpoint<T = unknown>(stage: string): T | undefined {
  assertFileName('checkpoint stage', stage);
  return readStored(checkpointDir(), stage)?.data as T | undefined;
}

function readStored(dir: string, stage: string): StoredCheckpoint | undefined {
  const path = join(dir, `${stage}.json`);
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (!found) return undefined;
  if (!found.isFile()) throw notACheckpoint(path, 'it is not a regular file');
  let value: Partial<StoredCheckpoint> | null;
  try {
    value = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw notACheckpoint(path, 'it is not whole JSON', cause);
  }
  if (typeof value !== 'object' || value === null || !('data' in value)) {
    throw notACheckpoint(path, 'it has no data');
  }
  if (value.stage !== stage) throw notACheckpoint(path, `it names the stage ${JSON.stringify(value.stage)}`);
  if (!Number.isInteger(value.version) || Number(value.version) < 1) {
    throw notACheckpoint(path, 'it has no version number');
  }
  return value as StoredCheckpoint;
}

function cannotSave(stage: string, dir: string, cause: NodeJS.ErrnoException): ToolError {
  const isFull = cause.code === 'ENOSPC' || cause.code === 'EDQUOT';
  return new ToolError(
    isFull ? 'E_DISK_FULL' : 'E_STORAGE',
    `cannot save the checkpoint '${stage}' in ${dir}: ${cause.message}`,
    isFull ? 'Free space on its disk.' : 'See whether it may be written: the disk may be read-only.',
    { cause },
  );
}

function notACheckpoint(path: string, why: string, cause?: unknown): ToolError {
  return new ToolError(
    'E_STORAGE',
    `${path} is not a checkpoint: ${why}`,
    `To restart this stage: rm '${path}'`,
    { cause },
  );
}

function writeDurably(path: string, text: string): void {
  const fd = openSync(path, 'wx', 0o600);
  try {
    writeFileSync(fd, text);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function syncDir(dir: string): void {
  // Windows cannot open a folder; its renames are journalled.
  if (process.platform === 'win32') return;
  const fd = openSync(dir, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

function removeDrafts(dir: string, stage: string): void {
  for (const name of readdirSync(dir)) {
    const isDraft =
      name.startsWith(`.${stage}.`) && /^\d+\.[0-9a-f]+\.tmp$/.test(name.slice(stage.length + 2));
    if (isDraft) rmSync(join(dir, name), { force: true });
  }
}
