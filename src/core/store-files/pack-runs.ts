import { existsSync } from 'node:fs';
import { isFinal } from '../../protocol/run.ts';
import { syncFolder } from '../../util/atomic-write.ts';
import { errorMessage } from '../../util/error-code.ts';
import { nextTurn, pause } from '../../util/pause.ts';
import { withPacks } from './change-packs.ts';
import { ancestorsOf, type Claimed, type FileRuns, keysOf, withClaimed } from './claim-runs.ts';
import { refuseLinkedFolders } from './layout.ts';
import type { PackWriter } from './pack-writer.ts';
import { RemovedFolders } from './removed-folders.ts';
import { type NoRoom, type RetentionRule, selectRemovable } from './retention.ts';
import { type ScannedRun, scanRun } from './scan-run.ts';
import { isDiskFull, storageError, unlessFull } from './storage-error.ts';

/** A pack has so many runs at most: to find one of them, its whole table is read. */
const PACK_RUNS = 500;
const PACK_FILES = 10_000;
/** The content of a pack, before compression. Removing one run of a pack writes the pack again. */
const PACK_BYTES = 64 << 20;
/** Another process that waits to change the packs, to resume a run for example, looks more often than this. */
const PAUSE_MS = 50;

/** The runs that a rule would pack, oldest first: those with a folder that have ended. */
export function selectPackable(store: FileRuns, rule: RetentionRule): string[] {
  return selectRemovable(store, rule, {
    mayTake: (runId) => existsSync(store.layout(runId).dir),
    isWanted: ({ state }) => isFinal(state),
  });
}

/**
 * Moves runs from their folders into packs. On a disk that has no room for a pack of many runs, it makes smaller ones, which free some. A run that another process uses stays a folder, and so does
 * one whose folder a pack could not restore as it is. Each pack is on the disk, checked and entered in the ledger before the first of
 * its folders goes, and a folder counts more than a copy in a pack: after a kill at any point every run is there once, unchanged.
 * Throws E_DISK_FULL when there is no room for any of them.
 */
export async function packRuns(
  store: FileRuns,
  runIds: readonly string[],
): Promise<{ packed: string[]; noRoom: NoRoom[] }> {
  const packed: string[] = [];
  const noRoom: NoRoom[] = [];
  try {
    refuseLinkedFolders(store.root);
    const trash = new RemovedFolders(store.root);
    await trash.delete();
    for (const batch of batchesOf(store, runIds)) await packBatch(batch, trash);
    trash.assertAllDeleted();
    if (packed.length === 0 && noRoom.length > 0) throw noRoom[0]!.error;
  } catch (error) {
    throw storageError(error, 'pack runs', store.root);
  }
  return { packed, noRoom };

  async function packBatch(batch: readonly string[], trash: RemovedFolders): Promise<void> {
    try {
      packed.push(...(await withClaimed(store, batch, 'pack', (claimed) => pack(store, claimed, trash))));
      await trash.delete();
      await pause(PAUSE_MS);
    } catch (error) {
      if (!isDiskFull(error)) throw error;
      if (batch.length === 1) {
        noRoom.push({ runIds: [...batch], error: storageError(error, 'pack runs', store.root) });
        return;
      }
      const half = Math.ceil(batch.length / 2);
      await packBatch(batch.slice(0, half), trash);
      await packBatch(batch.slice(half), trash);
    }
  }
}

/** Runs that fit into one pack. Those that cannot be packed are left out. */
function* batchesOf(store: FileRuns, runIds: readonly string[]): Generator<string[]> {
  let [batch, bytes, files]: [string[], number, number] = [[], 0, 0];
  for (const runId of runIds) {
    const scanned = scanOrUndefined(store.layout(runId).dir);
    if (scanned === undefined) continue;
    bytes += scanned.bytes;
    files += scanned.files.length;
    if (batch.length === PACK_RUNS || bytes > PACK_BYTES || files > PACK_FILES) {
      yield batch;
      [batch, bytes, files] = [[], scanned.bytes, scanned.files.length];
    }
    batch.push(runId);
  }
  if (batch.length > 0) yield batch;
}

function pack(store: FileRuns, claimed: readonly Claimed[], trash: RemovedFolders): Promise<string[]> {
  return withPacks(store.root, async (packs) => {
    const inPack = new Set(await packs.add((writer) => fill(writer, store, claimed)));
    // Another host may have taken a run over while this process was suspended.
    const moved = claimed.filter(({ record, lease }) => inPack.has(record.run_id) && lease?.isHeld());
    for (const { record } of moved) trash.take(store.layout(record.run_id).dir);
    if (moved.length > 0) syncFolder(store.root);
    // A key is found in a file of its own as well.
    await unlessFull(() => store.packKeys(keysOf(moved.map(({ record }) => record))));
    return moved.map(({ record }) => record.run_id);
  });
}

async function fill(writer: PackWriter, store: FileRuns, claimed: readonly Claimed[]): Promise<void> {
  for (const { record } of claimed) {
    const { dir } = store.layout(record.run_id);
    const ancestors = ancestorsOf(store, record).map(({ run_id }) => run_id);
    // Before the claim, the supervisor may still have been removing files.
    const scanned = scanOrUndefined(dir);
    if (scanned !== undefined) writer.add({ run_id: record.run_id, ancestors }, dir, scanned);
    // The leases are renewed in between.
    await nextTurn();
  }
}

/** What a pack could not restore of the folder of a run; undefined when it could restore all. */
export function whyNotPacked(store: FileRuns, runId: string): string | undefined {
  try {
    scanRun(store.layout(runId).dir, PACK_BYTES);
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}

/** A run that cannot be read as a whole stays as it is. */
function scanOrUndefined(dir: string): ScannedRun | undefined {
  try {
    return scanRun(dir, PACK_BYTES);
  } catch {
    return undefined;
  }
}
