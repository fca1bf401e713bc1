import { existsSync, statSync } from 'node:fs';
import { AcorError } from '../../protocol/acor-error.ts';
import { removeWholePack } from '../../protocol/next-steps.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { countOf } from '../../util/count-of.ts';
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
import { refuseLinkedFolders } from './layout.ts';
import type { PackTable } from './pack-table.ts';
import { keepCosts } from './removed-costs.ts';
import { keepCounts } from './removed-counts.ts';
import { RemovedFolders } from './removed-folders.ts';
import { isDiskFull, storageError, unlessFull } from './storage-error.ts';

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

/** What became of runs that were to be removed. The others were resumed, or another process removes them. */
export interface Removal {
  removed: string[];
  noRoom: NoRoom[];
}

/** Runs that are left as they were, because the disk has no room for the change: E_DISK_FULL. */
export interface NoRoom {
  runIds: string[];
  error: AcorError;
}

/**
 * Removes runs; one that was resumed, or is being removed by another process, is left alone. A batch is entered in the ledger before its
 * folders and packed runs go: after a kill at any point a run is either there as before, or it is gone and entered as cleaned. Throws
 * E_DISK_FULL when the disk has no room for any of the removals.
 */
export async function removeRuns(store: FileRuns, runIds: readonly string[]): Promise<Removal> {
  const removed: string[] = [];
  const noRoom: NoRoom[] = [];
  const keyed: KeyOfRun[] = [];
  try {
    refuseLinkedFolders(store.root);
    const trash = new RemovedFolders(store.root);
    await trash.delete();
    for (const batch of batchesOf(store, runIds)) {
      try {
        removed.push(
          ...(await withClaimed(store, batch.runIds, 'remove', (claimed) =>
            remove(store, claimed, { trash, keyed }),
          )),
        );
      } catch (error) {
        noRoom.push({ runIds: batch.runIds, error: noRoomFor(store, batch, error) });
      }
      await trash.delete();
    }
    if (removed.length === 0 && noRoom.length > 0) throw noRoom[0]!.error;
    // They need a line in the ledger, for which there is room by now.
    await enterEmptied(store);
    // A key is ignored when its run is gone.
    await unlessFull(() => store.forgetPackedKeys(keyed));
    trash.assertAllDeleted();
  } catch (error) {
    throw storageError(error, 'remove runs', store.root);
  }
  return { removed, noRoom };
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
  let entered: Promise<void> | undefined;
  const enter = () => {
    entered ??= enterRemoved(store, runIds);
    return entered;
  };
  // On a full disk this makes the room for the lock of the packs.
  if (!isPartOfPack(store, runIds)) await enter();
  const takeFolders = () => {
    for (const runId of runIds) trash.take(store.layout(runId).dir);
  };
  if (store.files.packed.exist) {
    await withPacks(store.root, async (packs) => {
      await packs.remove(runIds, { enter });
      takeFolders();
    });
  } else takeFolders();
  await store.forgetKeys(keysOf(records));
  // The keys of packed runs share files, which are written once, after all batches.
  keyed.push(...keysOf(records));
  return runIds;
}

/** Runs that are removed together. */
interface Batch {
  runIds: string[];
  /** The pack that must be written again without them. */
  pack?: { table: PackTable; bytes: number };
}

/** Runs with folders first, then those of a pack at a time: first of the packs that go as a whole, which makes room as well, then of the smallest. */
function batchesOf(store: FileRuns, runIds: readonly string[]): Batch[] {
  const inFolders = runIds.filter((runId) => existsSync(store.layout(runId).dir));
  const batches: Batch[] = [];
  for (let at = 0, size = 1; at < inFolders.length; at += size, size = Math.min(size * 8, BATCH_RUNS))
    batches.push({ runIds: inFolders.slice(at, at + size) });
  const others = new Set(runIds);
  for (const runId of inFolders) others.delete(runId);
  if (others.size === 0) return batches;
  const parts: Required<Batch>[] = [];
  for (const { table } of store.files.packed.tables([...others])) {
    const ids = table?.ids() ?? [];
    const gone = ids.filter((runId) => others.delete(runId));
    if (table === undefined || gone.length === 0) continue;
    if (gone.length === ids.length) batches.push({ runIds: gone });
    else parts.push({ runIds: gone, pack: { table, bytes: bytesWithout(table, gone) } });
  }
  return [...batches, ...parts.sort((a, b) => a.pack.bytes - b.pack.bytes)];
}

/** How large a pack is without some of its runs. */
function bytesWithout(table: PackTable, runIds: readonly string[]): number {
  let { size } = statSync(table.path);
  for (const runId of runIds) size -= table.find(runId)!.bytes;
  return size;
}

function isPartOfPack({ files }: FileRuns, runIds: readonly string[]): boolean {
  const gone = new Set(runIds);
  for (const { table } of files.packed.tables(runIds)) {
    const ids = table?.ids() ?? [];
    if (ids.some((runId) => gone.has(runId)) && !ids.every((runId) => gone.has(runId))) return true;
  }
  return false;
}

/** Rethrows what is not a full disk. */
function noRoomFor(store: FileRuns, { runIds, pack }: Batch, error: unknown): AcorError {
  if (!isDiskFull(error)) throw error;
  if (pack === undefined) return storageError(error, 'remove runs', store.root);
  const last = pack.table.ids().at(-1)!;
  const newer = store.listNow().filter((runId) => runId > last).length;
  return new AcorError(
    'E_DISK_FULL',
    `no space left to write the pack ${pack.table.path} again without ${countOf(runIds.length, 'run')}: that needs ${pack.bytes} bytes`,
    {
      hint: 'Free so much space. Or remove all runs up to the newest one of the pack, which needs none.',
      next: [removeWholePack(newer)],
      cause: error,
    },
  );
}
