import { closeSync, constants, ftruncateSync, readdirSync, renameSync, writeSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isRunId } from '../../protocol/run.ts';
import { errorCode } from '../../util/error-code.ts';
import { OpenFolder } from '../../util/open-folder.ts';
import { openOwn, readOwn, refuseLinks } from '../../util/regular-file.ts';
import { removePath, removeTree } from '../../util/walk-tree.ts';
import type { FileRuns } from './claim-runs.ts';
import { Ledger } from './ledger.ts';
import { missingRuns } from './missing-runs.ts';
import { PackTable } from './pack-table.ts';
import { idsOfName } from './packed-runs.ts';
import { isDiskFull } from './storage-error.ts';

/** Before the id of a run, or the name of a pack: its folder or file while it is emptied. */
const EMPTIED = 'emptied-';

/**
 * Enters runs in the ledger as removed. When the disk has no room for that, their folders, and packs that have no other runs, are emptied
 * first: they stay under another name until the runs are entered, so that after a kill `enterEmptied` does it.
 */
export async function enterRemoved(store: FileRuns, runIds: readonly string[]): Promise<void> {
  try {
    await enter(store, runIds);
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    const paths = [...runIds.map((runId) => store.layout(runId).dir), ...packsOf(store, runIds)];
    const emptied = paths.flatMap((path) => movedAway(path, store.root));
    if (emptied.length === 0) throw error;
    for (const path of emptied) empty(path);
    await enter(store, runIds);
    for (const path of emptied) removePath(path);
  }
}

/** Enters the runs that a process emptied, and did not enter because it was killed. */
export async function enterEmptied(store: FileRuns): Promise<void> {
  const emptied = readdirSync(store.root).flatMap((name) => {
    const of = name.startsWith(EMPTIED) ? name.slice(EMPTIED.length) : '';
    return isRunId(of) || idsOfName(of) !== undefined ? [join(store.root, name)] : [];
  });
  if (emptied.length === 0) return;
  const runIds = emptied.flatMap(runsOf);
  for (const path of emptied) empty(path);
  const missing = missingRuns(store, runIds);
  if (missing.length > 0) await enter(store, missing);
  for (const path of emptied) removePath(path);
}

async function enter(store: FileRuns, runIds: readonly string[]): Promise<void> {
  await new Ledger(store.root).append(...runIds.map((run_id) => ({ type: 'cleaned' as const, run_id })));
}

/** The packs that have none but these runs. */
function packsOf(store: FileRuns, runIds: readonly string[]): string[] {
  refuseLinks(store.root, 'packs');
  const gone = new Set(runIds);
  return Array.from(store.files.packed.tables(runIds)).flatMap(({ path, table }) =>
    table?.ids().every((runId) => gone.has(runId)) ? [path] : [],
  );
}

/** Where the folder of a run, or a pack, is after it was moved away; none that does not exist. */
function movedAway(path: string, root: string): string[] {
  const moved = join(root, EMPTIED + basename(path));
  try {
    renameSync(path, moved);
    return [moved];
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}

/** Which runs are in what was moved away. */
function runsOf(path: string): string[] {
  const name = basename(path).slice(EMPTIED.length);
  if (isRunId(name)) return [name];
  try {
    return PackTable.read(path)?.ids() ?? [];
  } catch {
    return readOwn(path).toString('latin1').split('\n').filter(isRunId);
  }
}

/** Frees the room. A pack keeps the ids of its runs, which are written over its content: that takes no room, and its table stays until the end. */
function empty(path: string): void {
  if (idsOfName(basename(path).slice(EMPTIED.length)) === undefined) {
    using folder = OpenFolder.trusted(path);
    for (const name of folder.names()) removeTree(folder, name);
    return;
  }
  const ids = Buffer.from(`${runsOf(path).join('\n')}\n`);
  const fd = openOwn(path, constants.O_RDWR);
  try {
    ftruncateSync(fd, writeSync(fd, ids, 0, ids.length, 0));
  } finally {
    closeSync(fd);
  }
}
