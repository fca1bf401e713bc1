import { linkSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { RunRecord } from '../../protocol/run-record.ts';
import { errorCode } from '../../util/error-code.ts';
import { identify, isRunning } from '../../util/process-table.ts';
import { Ledger } from './ledger.ts';
import { isLive } from './lost-runs.ts';
import type { RunStore } from './run-store.ts';
import { storageError } from './storage-error.ts';

/** So many removals are entered in the ledger, and synced, at once. The first batches are smaller: on a full disk they make room. */
const BATCH_RUNS = 500;
/** So many folders are deleted at a time. */
const DELETED_AT_ONCE = 8;

export interface RetentionRule {
  /** Keep this many of the newest runs. */
  keep?: number;
  /** Remove only what ended longer ago than this. */
  olderThanMs?: number;
}

/** The runs that a rule would remove, oldest first. A live run and the parts of one are never among them. */
export function selectRemovable(store: RunStore, rule: RetentionRule, nowMs: number = Date.now()): string[] {
  const ids = store.list();
  const old = rule.keep === undefined ? ids : ids.slice(0, Math.max(0, ids.length - rule.keep));
  return old.filter((runId) => {
    const record = readOrUndefined(store, runId);
    if (record === undefined || !isRemovable(store, record)) return false;
    const endedMs = Date.parse(record.ended_at ?? record.created_at);
    return rule.olderThanMs === undefined || nowMs - endedMs > rule.olderThanMs;
  });
}

/**
 * Removes runs, and returns those that it removed; one that was resumed, or is being removed by another process, is left alone. A batch
 * is entered in the ledger before its folders go, each by one rename: after a kill at any point a run is either there as before, or it
 * is gone and entered as cleaned.
 */
export async function removeRuns(store: RunStore, runIds: readonly string[]): Promise<string[]> {
  const ledger = new Ledger(store.root);
  const trash = join(store.root, 'removed');
  const removed: string[] = [];
  try {
    mkdirSync(trash, { recursive: true });
    await deleteFolders(trash);
    for (let at = 0, size = 1; at < runIds.length; at += size, size = Math.min(size * 8, BATCH_RUNS)) {
      const claimed = runIds.slice(at, at + size).flatMap((runId) => claim(store, runId) ?? []);
      if (claimed.length === 0) continue;
      await ledger.append(...claimed.map(({ run_id }) => ({ type: 'cleaned' as const, run_id })));
      for (const { run_id } of claimed) moveIfThere(store.layout(run_id).dir, join(trash, run_id));
      for (const { run_id, idempotency_key: key } of claimed) if (key) await store.forgetKey(key, run_id);
      await deleteFolders(trash);
      removed.push(...claimed.map(({ run_id }) => run_id));
    }
  } catch (error) {
    throw storageError(error, 'remove runs', store.root);
  }
  return removed;
}

/** Keeps a run from being resumed while it is removed: its next epoch belongs to this process. Undefined when it may not be removed. */
function claim(store: RunStore, runId: string): RunRecord | undefined {
  const record = readOrUndefined(store, runId);
  if (record === undefined || !isRemovable(store, record)) return undefined;
  for (let epoch = record.epoch + 1, isOwn = false; !isOwn; epoch++) {
    const path = join(store.layout(runId).control, `epoch-${epoch}`);
    isOwn = isClaimed(path);
    if (!isOwn && isHeld(path)) return undefined;
  }
  const now = readOrUndefined(store, runId);
  return now?.epoch === record.epoch ? now : undefined;
}

function isClaimed(path: string): boolean {
  const own = `${path}.${process.pid}-removal`;
  try {
    writeFileSync(own, JSON.stringify(identify(process.pid)));
    linkSync(own, path);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    // On a full disk, removing is what makes room; and a run that another process removes meanwhile is not read again.
    if (errorCode(error) === 'ENOSPC' || errorCode(error) === 'ENOENT') return true;
    throw error;
  } finally {
    rmSync(own, { force: true });
  }
}

function isHeld(path: string): boolean {
  try {
    return isRunning(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return false;
  }
}

/** A folder that was removed by hand meanwhile is gone as well. */
function moveIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

async function deleteFolders(folder: string): Promise<void> {
  const names = readdirSync(folder);
  const next = async () => {
    for (let name = names.pop(); name !== undefined; name = names.pop())
      await rm(join(folder, name), { recursive: true, force: true });
  };
  await Promise.all(Array.from({ length: DELETED_AT_ONCE }, next));
}

/** The steps of a live workflow are read by it, at any depth. */
function isRemovable(store: RunStore, record: RunRecord): boolean {
  const seen = new Set<string>();
  for (let whole: RunRecord | undefined = record; whole !== undefined && !seen.has(whole.run_id); ) {
    if (isLive(whole)) return false;
    seen.add(whole.run_id);
    // Absent in records of earlier builds.
    whole = whole.parent ? readOrUndefined(store, whole.parent.run_id) : undefined;
  }
  return true;
}

function readOrUndefined(store: RunStore, runId: string): RunRecord | undefined {
  try {
    return store.read(runId);
  } catch {
    return undefined;
  }
}
