import { existsSync } from 'node:fs';
import { isFinal } from '../../protocol/run-state.ts';
import { syncFolder } from '../../util/atomic-write.ts';
import { withPacks } from './change-packs.ts';
import { ancestorsOf, type Claimed, type FileRuns, withClaimed } from './claim-runs.ts';
import type { PackWriter } from './pack-writer.ts';
import { RemovedFolders } from './removed-folders.ts';
import { type RetentionRule, selectRemovable } from './retention.ts';
import { type ScannedRun, scanRun } from './scan-run.ts';
import { storageError } from './storage-error.ts';

/** A pack has so many runs at most: to find one of them, its whole table is read. */
const PACK_RUNS = 500;
const PACK_FILES = 10_000;
/** The content of a pack, before compression. Removing one run of a pack writes the pack again. */
const PACK_BYTES = 64 << 20;

/** The runs that a rule would pack, oldest first: those with a folder that have ended. */
export function selectPackable(store: FileRuns, rule: RetentionRule): string[] {
  return selectRemovable(store, rule, {
    mayTake: (runId) => existsSync(store.layout(runId).dir),
    isWanted: ({ state }) => isFinal(state),
  });
}

/**
 * Moves runs from their folders into packs, and returns those that it moved. A run that another process uses stays a folder, and so does
 * one whose folder a pack could not restore as it is. Each pack is on the disk, checked and entered in the ledger before the first of
 * its folders goes, and a folder counts more than a copy in a pack: after a kill at any point every run is there once, unchanged.
 */
export async function packRuns(store: FileRuns, runIds: readonly string[]): Promise<string[]> {
  const packed: string[] = [];
  try {
    const trash = new RemovedFolders(store.root);
    await trash.delete();
    for (let at = 0; at < runIds.length; at += PACK_RUNS) {
      const batch = runIds.slice(at, at + PACK_RUNS);
      await withClaimed(store, batch, 'pack', async (claimed) => {
        for (const left = [...claimed]; left.length > 0; )
          packed.push(...(await packSome(store, left, trash)));
      });
      await trash.delete();
    }
  } catch (error) {
    throw storageError(error, 'pack runs', store.root);
  }
  return packed;
}

/** Makes one pack of the first runs, and takes these out of `left`. */
function packSome(store: FileRuns, left: Claimed[], trash: RemovedFolders): Promise<string[]> {
  return withPacks(store.root, async (packs) => {
    const leases = new Map(left.map(({ record, lease }) => [record.run_id, lease]));
    const inPack = await packs.add((writer) => fill(writer, store, left));
    // Another host may have taken a run over while this process was suspended.
    const moved = inPack.filter((runId) => leases.get(runId)?.isHeld());
    for (const runId of moved) trash.take(store.layout(runId).dir);
    if (moved.length > 0) syncFolder(store.root);
    return moved;
  });
}

async function fill(writer: PackWriter, store: FileRuns, left: Claimed[]): Promise<void> {
  let [bytes, files] = [0, 0];
  for (let next = left[0]; next !== undefined; next = left[0]) {
    const { record } = next;
    const { dir } = store.layout(record.run_id);
    const scanned = scanOrUndefined(dir);
    bytes += scanned?.bytes ?? 0;
    files += scanned?.files.length ?? 0;
    if (bytes > PACK_BYTES || files > PACK_FILES) return;
    left.shift();
    const ancestors = ancestorsOf(store, record).map(({ run_id }) => run_id);
    if (scanned !== undefined) writer.add({ run_id: record.run_id, ancestors }, dir, scanned);
    // The leases are renewed in between.
    await new Promise((resolve) => setImmediate(resolve));
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
