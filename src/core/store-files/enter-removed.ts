import { readdirSync, renameSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { isRunId } from '../../protocol/run.ts';
import { errorCode } from '../../util/error-code.ts';
import { OpenFolder } from '../../util/open-folder.ts';
import { removePath, removeTree } from '../../util/walk-tree.ts';
import type { FileRuns } from './claim-runs.ts';
import { Ledger } from './ledger.ts';
import { missingRuns } from './missing-runs.ts';

/** Before the id of a run: its folder while it is emptied. */
const EMPTIED = 'emptied-';

/**
 * Enters runs in the ledger as removed. When the disk has no room for that, their folders are emptied first: they stay under another
 * name until the runs are entered, so that after a kill `enterEmptied` does it.
 */
export async function enterRemoved(store: FileRuns, runIds: readonly string[]): Promise<void> {
  try {
    await enter(store, runIds);
  } catch (error) {
    if (!(error instanceof AcorError) || error.code !== 'E_DISK_FULL') throw error;
    const emptied = runIds.flatMap((runId) => emptiedFolderOf(store.layout(runId).dir));
    if (emptied.length === 0) throw error;
    for (const folder of emptied) empty(folder);
    await enter(store, runIds);
    for (const folder of emptied) removePath(folder);
  }
}

/** Enters the runs that a process emptied, and did not enter because it was killed. */
export async function enterEmptied(store: FileRuns): Promise<void> {
  const runIds = readdirSync(store.root).flatMap((name) => {
    const runId = name.startsWith(EMPTIED) ? name.slice(EMPTIED.length) : '';
    return isRunId(runId) ? [runId] : [];
  });
  const folders = runIds.map((runId) => join(store.root, EMPTIED + runId));
  for (const folder of folders) empty(folder);
  const missing = runIds.length === 0 ? [] : missingRuns(store, runIds);
  if (missing.length > 0) await enter(store, missing);
  for (const folder of folders) removePath(folder);
}

async function enter(store: FileRuns, runIds: readonly string[]): Promise<void> {
  await new Ledger(store.root).append(...runIds.map((run_id) => ({ type: 'cleaned' as const, run_id })));
}

/** Moves the folder of a run away. None for one that is only in a pack. */
function emptiedFolderOf(dir: string): string[] {
  const folder = join(dirname(dir), EMPTIED + basename(dir));
  try {
    renameSync(dir, folder);
    return [folder];
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

function empty(path: string): void {
  using folder = OpenFolder.trusted(path);
  for (const name of folder.names()) removeTree(folder, name);
}
