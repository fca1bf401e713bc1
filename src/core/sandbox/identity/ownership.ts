import { chownSync, type Stats } from 'node:fs';
import { basename, dirname, relative } from 'node:path';
import { errorCode } from '../../../util/error-code.ts';
import { OpenFolder } from '../../../util/open-folder.ts';
import { isInside } from '../../../util/real-path.ts';
import { walkTree } from '../../../util/walk-tree.ts';

/**
 * Visits an entry that is held meanwhile, so that the change applies to the inspected object. `closed`: the entries of this folder are not
 * visited.
 */
export type Visit = (entry: HeldEntry) => 'closed' | undefined;

export interface HeldEntry {
  path: string;
  stats: Stats;
  chown(uid: number, gid: number): void;
}

/**
 * Visits a file or folder, and with `isDeep` everything below it, without following links: this code runs as root, and
 * a process that may write there could replace a folder by a link at any moment. Entries that vanish during the walk
 * are skipped. `path` is real. `from` is an open folder above it, from which the way is shorter.
 */
export function visitTree(
  path: string,
  {
    isDeep,
    skip = () => false,
    from,
  }: { isDeep: boolean; skip?(path: string): boolean; from?: OpenFolder | undefined },
  visit: Visit,
): void {
  if (skip(path)) return;
  const isBeside = from?.path === dirname(path);
  using opened = isBeside ? undefined : openAbove(path, from);
  const above = isBeside ? from : opened;
  if (above === undefined) return;
  using folder = folderIn(above, basename(path));
  if (folder === undefined) {
    visitEntry(above, basename(path), path, visit);
    return;
  }
  const chownFolder = (uid: number, gid: number) => chownSync(folder.self, uid, gid);
  if (visit({ path, stats: folder.stats(), chown: chownFolder }) === 'closed' || !isDeep) return;
  const enters = (step: { path: string; stats: Stats; own: OpenFolder }) => {
    if (skip(step.path)) return false;
    const chown = (uid: number, gid: number) => chownSync(step.own.self, uid, gid);
    return visit({ path: step.path, stats: step.stats, chown }) !== 'closed';
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

function openAbove(path: string, from: OpenFolder | undefined): OpenFolder | undefined {
  const folder = dirname(path);
  try {
    if (from === undefined || !isInside(folder, from.path)) return OpenFolder.real(folder);
    return from.below(relative(from.path, folder));
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Undefined where there is no folder. */
function folderIn(above: OpenFolder, name: string): OpenFolder | undefined {
  try {
    return above.child(name);
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

function visitEntry(folder: OpenFolder, name: string | Buffer, path: string, visit: Visit): void {
  folder.hold(name, (held, stats) => {
    // The path of a held link leads to the link itself.
    visit({ path, stats, chown: (uid, gid) => chownSync(held, uid, gid) });
  });
}
