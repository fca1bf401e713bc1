import { existsSync } from 'node:fs';
import type { RunRecord } from '../../protocol/run-record.ts';
import { timeOfRunId } from '../../util/ids.ts';
import { withPacks } from './change-packs.ts';
import {
  type Claimed,
  type FileRuns,
  isRemovable,
  keysOf,
  readOrUndefined,
  withClaimed,
} from './claim-runs.ts';
import { enterEmptied, enterRemoved } from './enter-removed.ts';
import type { KeyOfRun } from './idempotency-keys.ts';
import { keepCosts } from './removed-costs.ts';
import { keepCounts } from './removed-counts.ts';
import { RemovedFolders } from './removed-folders.ts';
import { storageError } from './storage-error.ts';

/** So many removals are entered in the ledger, and synced, at once. The first batches are smaller: on a full disk they make room. */
const BATCH_RUNS = 500;

export interface RetentionRule {
  /** Keep this many of the newest runs. */
  keep?: number;
  /** Take only what ended longer ago than this. */
  olderThanMs?: number;
}

/**
 * The runs that a rule would remove, oldest first. A live run and the parts of one are never among them. `mayTake` is asked first, because
 * it costs less than to read the record of a run.
 */
export function selectRemovable(
  store: FileRuns,
  rule: RetentionRule,
  {
    nowMs = Date.now(),
    mayTake = () => true,
    isWanted = () => true,
  }: {
    nowMs?: number;
    mayTake?: (runId: string) => boolean;
    isWanted?: (record: RunRecord) => boolean;
  } = {},
): string[] {
  const ids = store.listNow();
  const old = rule.keep === undefined ? ids : beforeNewest(store, ids, rule.keep);
  return old.filter((runId) => {
    // It cannot have ended before it was created, which its id says without a look at its record.
    if (rule.olderThanMs !== undefined && nowMs - timeOfRunId(runId) <= rule.olderThanMs) return false;
    const record = mayTake(runId) ? readOrUndefined(store, runId) : undefined;
    if (record === undefined || !isWanted(record) || !isRemovable(store, record)) return false;
    const endedMs = Date.parse(record.ended_at ?? record.created_at);
    return rule.olderThanMs === undefined || nowMs - endedMs > rule.olderThanMs;
  });
}

/** Without the newest `keep` runs. A folder that is not a run, or has no valid record, takes the place of none of them. */
function beforeNewest(store: FileRuns, ids: readonly string[], keep: number): readonly string[] {
  const isRun = (runId: string) =>
    readOrUndefined(store, runId) !== undefined || store.files.inPack(runId) !== undefined;
  let end = ids.length;
  for (let left = keep; left > 0 && end > 0; end--) if (isRun(ids[end - 1]!)) left--;
  return ids.slice(0, end);
}

/**
 * Removes runs, and returns those that it removed; one that was resumed, or is being removed by another process, is left alone. A batch
 * is entered in the ledger before its folders and packed runs go: after a kill at any point a run is either there as before, or it is gone
 * and entered as cleaned.
 */
export async function removeRuns(store: FileRuns, runIds: readonly string[]): Promise<string[]> {
  const removed: string[] = [];
  const keyed: KeyOfRun[] = [];
  try {
    const trash = new RemovedFolders(store.root);
    await trash.delete();
    await enterEmptied(store);
    for (const batch of batchesOf(store, runIds)) {
      removed.push(
        ...(await withClaimed(store, batch, 'remove', (claimed) => remove(store, claimed, { trash, keyed }))),
      );
      await trash.delete();
    }
    await store.forgetPackedKeys(keyed);
    trash.assertAllDeleted();
  } catch (error) {
    throw storageError(error, 'remove runs', store.root);
  }
  return removed;
}

async function remove(
  store: FileRuns,
  claimed: readonly Claimed[],
  { trash, keyed }: { trash: RemovedFolders; keyed: KeyOfRun[] },
): Promise<string[]> {
  const records = claimed.map(({ record }) => record);
  const runIds = records.map(({ run_id }) => run_id);
  if (runIds.length === 0) return [];
  // Before the ledger: a run that still exists does not count as removed.
  keepCosts(store.root, records);
  await keepCounts(store.root, records, (runId) => store.files.has(runId));
  await enterRemoved(store, runIds);
  const takeFolders = () => {
    for (const runId of runIds) trash.take(store.layout(runId).dir);
  };
  if (store.files.packed.exist) {
    await withPacks(store.root, async (packs) => {
      await packs.remove(runIds);
      takeFolders();
    });
  } else takeFolders();
  await store.forgetKeys(keysOf(records));
  // The keys of packed runs share files, which are written once, after all batches.
  keyed.push(...keysOf(records));
  return runIds;
}

/** Runs with folders first, then those of a pack at a time; first of the packs that go as a whole, which makes room as well. */
function batchesOf(store: FileRuns, runIds: readonly string[]): string[][] {
  const inFolders = runIds.filter((runId) => existsSync(store.layout(runId).dir));
  const batches: string[][] = [];
  for (let at = 0, size = 1; at < inFolders.length; at += size, size = Math.min(size * 8, BATCH_RUNS))
    batches.push(inFolders.slice(at, at + size));
  const others = new Set(runIds);
  for (const runId of inFolders) others.delete(runId);
  if (others.size === 0) return batches;
  const parts: string[][] = [];
  for (const { table } of store.files.packed.tables([...others])) {
    const ids = table?.ids() ?? [];
    const gone = ids.filter((runId) => others.delete(runId));
    if (gone.length > 0) (gone.length === ids.length ? batches : parts).push(gone);
  }
  return [...batches, ...parts];
}
