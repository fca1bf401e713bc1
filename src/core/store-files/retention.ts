import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { isFinal } from '../../protocol/run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { errorCode } from '../../util/error-code.ts';
import type { Lease } from '../ports/lease.ts';
import type { FileLeases } from './file-leases.ts';
import type { RunLayout } from './layout.ts';
import { Ledger } from './ledger.ts';
import { storageError } from './storage-error.ts';

/** So many removals are entered in the ledger, and synced, at once. The first batches are smaller: on a full disk they make room. */
const BATCH_RUNS = 500;
/** So many folders are deleted at a time. */
const DELETED_AT_ONCE = 8;
/** What removing runs needs of a store of files. */
interface FileRuns {
  readonly root: string;
  readonly leases: FileLeases;
  listNow(): string[];
  readNow(runId: string): RunRecord;
  layout(runId: string): RunLayout;
  forgetKey(key: string, runId: string): Promise<void>;
}

export interface RetentionRule {
  /** Keep this many of the newest runs. */
  keep?: number;
  /** Remove only what ended longer ago than this. */
  olderThanMs?: number;
}

/** The runs that a rule would remove, oldest first. A live run and the parts of one are never among them. */
export function selectRemovable(store: FileRuns, rule: RetentionRule, nowMs: number = Date.now()): string[] {
  const ids = store.listNow();
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
export async function removeRuns(store: FileRuns, runIds: readonly string[]): Promise<string[]> {
  const ledger = new Ledger(store.root);
  const trash = join(store.root, 'removed');
  const removed: string[] = [];
  try {
    mkdirSync(trash, { recursive: true });
    await deleteFolders(trash);
    for (let at = 0, size = 1; at < runIds.length; at += size, size = Math.min(size * 8, BATCH_RUNS)) {
      const claimed = await claimAll(store, runIds.slice(at, at + size));
      if (claimed.length === 0) continue;
      await ledger.append(...claimed.map(({ record: { run_id } }) => ({ type: 'cleaned' as const, run_id })));
      for (const { record } of claimed)
        moveIfThere(store.layout(record.run_id).dir, join(trash, record.run_id));
      for (const { record, lease } of claimed) {
        if (record.idempotency_key) await store.forgetKey(record.idempotency_key, record.run_id);
        await lease?.release();
      }
      await deleteFolders(trash);
      removed.push(...claimed.map(({ record }) => record.run_id));
    }
  } catch (error) {
    throw storageError(error, 'remove runs', store.root);
  }
  return removed;
}

/** A run that is to be removed. On a full disk there is no room for its lease, and removing it is what makes room. */
interface Claimed {
  record: RunRecord;
  lease: Lease | undefined;
}

async function claimAll(store: FileRuns, runIds: readonly string[]): Promise<Claimed[]> {
  const claimed: Claimed[] = [];
  for (const runId of runIds) {
    const run = await claim(store, runId);
    if (run !== undefined) claimed.push(run);
  }
  return claimed;
}

/** Keeps a run from being resumed while it is removed: its next epoch belongs to this process. Undefined when it may not be removed. */
async function claim(store: FileRuns, runId: string): Promise<Claimed | undefined> {
  const record = readOrUndefined(store, runId);
  if (record === undefined || !isRemovable(store, record)) return undefined;
  let lease: Lease | undefined;
  try {
    const newest = await store.leases.newest(runId);
    // The lease of the recorded epoch is that of the supervisor that has just ended the run; a later one is held by another process.
    if (newest !== undefined && newest.state !== 'lost' && newest.epoch > record.epoch) return undefined;
    const epoch = Math.max(record.epoch, newest?.epoch ?? 0) + 1;
    lease = await store.leases.acquire(runId, epoch, { recovers: true });
  } catch (error) {
    if (!(error instanceof AcorError) || error.code !== 'E_DISK_FULL') return undefined;
  }
  const now = readOrUndefined(store, runId);
  if (now?.epoch === record.epoch) return { record: now, lease };
  await lease?.release();
  return undefined;
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
function isRemovable(store: FileRuns, record: RunRecord): boolean {
  const seen = new Set<string>();
  for (let whole: RunRecord | undefined = record; whole !== undefined && !seen.has(whole.run_id); ) {
    if (isLive(store, whole)) return false;
    seen.add(whole.run_id);
    // Absent in records of earlier builds.
    whole = whole.parent ? readOrUndefined(store, whole.parent.run_id) : undefined;
  }
  return true;
}

function readOrUndefined(store: FileRuns, runId: string): RunRecord | undefined {
  try {
    return store.readNow(runId);
  } catch {
    return undefined;
  }
}

function isLive(store: FileRuns, { run_id, state }: RunRecord): boolean {
  return !isFinal(state) && ['live', 'recovering'].includes(store.leases.stateOf(run_id));
}
