import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  futimesSync,
  lchownSync,
  mkdirSync,
  symlinkSync,
} from 'node:fs';
import { childPath } from './open-folder.ts';
import { notRegular } from './regular-file.ts';
import {
  hashing,
  linkText,
  openAbove,
  stampOf,
  type TreeBound,
  TreeCounter,
  type TreeEntry,
  type TreeListing,
  type TreePlace,
  type TreeStop,
  type TreeWork,
  treeSteps,
} from './tree-listing.ts';

/**
 * Copies a tree to a place in which only ACOR writes, with modes and times, and as root with owners. Pipes, devices and sockets are
 * listed and not copied. A file system that can share blocks shares them. Returns the listing of what was copied, with the stamps of the originals. Throws
 * TreeTooLarge.
 */
export function* copyTree(from: TreePlace, to: TreePlace, bound: TreeBound): TreeWork<TreeListing> {
  const listing = new Map<string, TreeEntry>();
  const counter = new TreeCounter(bound);
  // A tree that is too large is found before anything is copied.
  for (const { stats } of treeSteps(from)) {
    counter.add(stats);
    yield undefined;
  }
  for (const stop of treeSteps(from)) {
    const target = openAbove(to, stop.key);
    using _ = target.folder;
    const entry = yield* copyEntry(stop, target);
    listing.set(stop.key, entry);
    yield undefined;
  }
  // A folder may be read-only: its mode is set when everything is in it.
  for (const [key, { kind, mode }] of [...listing].reverse()) {
    if (kind !== 'folder') continue;
    const { folder, name } = openAbove(to, key);
    using _ = folder;
    chmodSync(folder.at(name), mode);
  }
  return listing;
}

function* copyEntry(stop: TreeStop, to: TreePlace): TreeWork<TreeEntry> {
  const { stats } = stop;
  const target = to.folder.at(to.name);
  const [mode, stamp] = [stats.mode & 0o777, stampOf(stats)];
  const entry = yield* copied();
  if (entry.kind !== 'special' && process.geteuid?.() === 0) lchownSync(target, stats.uid, stats.gid);
  return entry;

  function* copied(): TreeWork<TreeEntry> {
    if (stats.isDirectory()) {
      mkdirSync(target, 0o700);
      return { kind: 'folder', mode, stamp };
    }
    if (stats.isSymbolicLink()) {
      const link = linkText(stop);
      symlinkSync(Buffer.from(link, 'latin1'), target);
      return { kind: 'link', mode: 0o777, link, stamp };
    }
    if (!stats.isFile()) return { kind: 'special', mode, stamp };
    return { kind: 'file', mode, size: stats.size, sha256: yield* copyFile(stop, to), stamp };
  }
}

/**
 * Copies a regular file to a new one, with its times, and returns the hash of the copy. Set-id bits are left out. Everything is done by the
 * descriptor of the copy: in a folder that others may write, they could replace it. `finish` changes it further.
 */
export function* copyFile(
  from: TreePlace,
  to: TreePlace,
  finish: (fd: number) => void = () => {},
): TreeWork<string> {
  const { fd, path: target } = to.folder.createFile(to.name);
  try {
    const stats = from.folder.hold(from.name, (path, held) => {
      if (!held.isFile()) throw notRegular(childPath(from.folder.path, from.name));
      copyFileSync(path, target, constants.COPYFILE_FICLONE);
      return held;
    });
    if (stats === undefined) throw Object.assign(new Error('it has gone'), { code: 'ENOENT' });
    const sha256 = yield* hashing(fd);
    fchmodSync(fd, stats.mode & 0o777);
    futimesSync(fd, stats.atimeMs / 1000, stats.mtimeMs / 1000);
    finish(fd);
    return sha256;
  } finally {
    closeSync(fd);
  }
}
