import { chownSync, type Stats } from 'node:fs';
import { basename, dirname } from 'node:path';
import { errorCode } from '../../../util/error-code.ts';
import { OpenFolder } from '../../../util/open-folder.ts';
import { walkTree } from '../../../util/walk-tree.ts';

/** An entry that is held while it is visited, so that the change applies to the inspected object. */
export type Visit = (entry: HeldEntry) => void;

export interface HeldEntry {
  path: string;
  stats: Stats;
  chown(uid: number, gid: number): void;
}

/**
 * Visits a file or folder, and with `isDeep` everything below it, without following links: this code runs as root, and
 * a process that may write there could replace a folder by a link at any moment. Entries that vanish during the walk
 * are skipped. `path` is real.
 */
export function visitTree(
  path: string,
  { isDeep, skip = () => false }: { isDeep: boolean; skip?(path: string): boolean },
  visit: Visit,
): void {
  if (skip(path)) return;
  using above = openAbove(path);
  if (above === undefined) return;
  const stats = visitEntry(above, basename(path), path, visit);
  if (!isDeep || !stats?.isDirectory()) return;
  using folder = above.child(basename(path));
  const enters = (step: { path: string; stats: Stats; own: OpenFolder }) => {
    if (skip(step.path)) return false;
    visit({ path: step.path, stats: step.stats, chown: (uid, gid) => chownSync(step.own.self, uid, gid) });
    return true;
  };
  for (const step of walkTree(folder, { enters }))
    if (step.kind === 'entry' && !skip(step.path)) visitEntry(step.folder, step.name, step.path, visit);
}

/** What a real path leads to. Throws ENOENT, and ENOTDIR when a part of it has become a link. */
export function statsAt(path: string): Stats {
  using above = OpenFolder.real(dirname(path));
  const stats = above.statsOf(basename(path));
  if (stats === undefined) throw Object.assign(new Error(`${path} does not exist`), { code: 'ENOENT' });
  return stats;
}

function openAbove(path: string): OpenFolder | undefined {
  try {
    return OpenFolder.real(dirname(path));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function visitEntry(
  folder: OpenFolder,
  name: string | Buffer,
  path: string,
  visit: Visit,
): Stats | undefined {
  return folder.hold(name, (held, stats) => {
    if (!stats.isSymbolicLink()) visit({ path, stats, chown: (uid, gid) => chownSync(held, uid, gid) });
    return stats;
  });
}
