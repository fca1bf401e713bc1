import {
  chmodSync,
  chownSync,
  fchmodSync,
  fchownSync,
  mkdirSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from 'node:fs';
import { posix } from 'node:path';
import { copyFile } from './copy-tree.ts';
import { errorCode } from './error-code.ts';
import {
  hasSameContent,
  isSameEntry,
  openAbove,
  stampOf,
  type TreeEntry,
  type TreeListing,
  type TreePlace,
  type TreeWork,
} from './tree-listing.ts';

/** A difference between two states of a tree. `mode`: only the permissions differ. */
export interface TreeChange {
  key: string;
  kind: 'added' | 'modified' | 'deleted' | 'mode';
  before: TreeEntry | undefined;
  after: TreeEntry | undefined;
}

/** Why a change is never made: its entry could give other programs more than a file. */
export type Unfit = 'special' | 'leads_out';

/** An entry that is neither as it was before the change, nor as it is to be after it. */
export interface TreeConflict {
  key: string;
  problem: 'appeared' | 'changed' | 'removed' | 'not_a_folder';
}

/**
 * The mode of a new folder until everything is in it. With the sticky bit it is not taken for a folder that another program made, so that
 * changes that were interrupted at any moment can be continued.
 */
const INTERIM_MODE = 0o1700;

/** What makes `after` out of `before`, sorted by path, so that a folder is before what is in it. */
export function changesBetween(before: TreeListing, after: TreeListing): TreeChange[] {
  const keys = [...new Set([...before.keys(), ...after.keys()])].sort();
  return keys.flatMap((key): TreeChange[] => {
    const [was, is] = [before.get(key), after.get(key)];
    if (isSameEntry(was, is)) return [];
    const kind =
      was === undefined
        ? 'added'
        : is === undefined
          ? 'deleted'
          : hasSameContent(was, is)
            ? 'mode'
            : 'modified';
    return [{ key, kind, before: was, after: is }];
  });
}

/** Whether a change must not be made: pipes, devices and sockets, and links that lead out of the tree. */
export function unfitnessOf({ key, after }: Pick<TreeChange, 'key' | 'after'>): Unfit | undefined {
  if (after?.kind === 'special') return 'special';
  return after?.kind === 'link' && leadsOut(key, after.link!) ? 'leads_out' : undefined;
}

/** A `..` behind a name counts as leading out: the name may be a link, so that its end is unknown. */
function leadsOut(key: string, link: string): boolean {
  if (key === '') return true;
  const parts = link.split('/').filter((part) => part !== '' && part !== '.');
  const down = parts.findIndex((part) => part !== '..');
  const ups = down === -1 ? parts.length : down;
  return posix.isAbsolute(link) || parts.slice(ups).includes('..') || ups > key.split('/').length - 1;
}

/** The changes below the given paths, with those of the folders above that they need; all without paths. */
export function selectChanges(changes: readonly TreeChange[], keys: readonly string[]): TreeChange[] {
  const isIn = (key: string, folder: string) =>
    key === folder || folder === '' || key.startsWith(`${folder}/`);
  return changes.filter(
    ({ key, after }) =>
      keys.some((wanted) => isIn(key, wanted)) ||
      (after?.kind === 'folder' && keys.some((wanted) => isIn(wanted, key))),
  );
}

/**
 * The changes that are still to be made in a tree that is now like `now`, and those that cannot be made. With `continues`, an earlier
 * attempt may have been interrupted between the two steps of a change.
 */
export function comparedWith(
  changes: readonly TreeChange[],
  now: TreeListing,
  { continues = false }: { continues?: boolean } = {},
): { open: TreeChange[]; conflicts: TreeConflict[] } {
  const changed = new Map(changes.map((change) => [change.key, change]));
  const open: TreeChange[] = [];
  const conflicts: TreeConflict[] = [];
  for (const change of changes) {
    const { key, before, after } = change;
    const is = now.get(key);
    const isHalf = continues && isHalfMade(change, is);
    if (!isHalf && isSameEntry(is, after)) continue;
    open.push(isHalf ? { ...change, before: is } : change);
    if (!isHalf && !isSameEntry(is, before))
      conflicts.push({
        key,
        problem: before === undefined ? 'appeared' : is === undefined ? 'removed' : 'changed',
      });
    else if (after !== undefined && !hasFolderAbove(key)) conflicts.push({ key, problem: 'not_a_folder' });
  }
  // A folder goes only with all that is in it.
  for (const key of now.keys()) {
    const above = changed.has(key) ? undefined : changed.get(aboveOf(key));
    if (above?.before?.kind === 'folder' && above.after?.kind !== 'folder')
      conflicts.push({ key, problem: 'appeared' });
  }
  return { open, conflicts };

  function hasFolderAbove(key: string): boolean {
    if (key === '') return true;
    const above = changed.get(aboveOf(key));
    return (above === undefined ? now.get(aboveOf(key)) : above.after)?.kind === 'folder';
  }
}

/** Whether the old entry is removed and the new one not yet there, or the new folder is being filled. */
function isHalfMade({ before, after }: TreeChange, is: TreeEntry | undefined): boolean {
  if (after === undefined || before?.kind === after.kind) return false;
  if (is !== undefined) return after.kind === 'folder' && isInterim(is);
  return before?.kind === 'folder' || (before !== undefined && after.kind === 'folder');
}

function isInterim(entry: TreeEntry | undefined): boolean {
  return entry?.kind === 'folder' && (entry.mode & 0o1777) === INTERIM_MODE;
}

function aboveOf(key: string): string {
  return key.slice(0, Math.max(0, key.lastIndexOf('/')));
}

/**
 * Makes changes in a tree, with the files of another one. Each file appears at once, as a whole. No link is followed, set-id bits are left
 * out, and as root new files and folders get the owner of their folder. `now` is the tree as it was compared: an entry that has changed since then ends
 * the work. Each new file is written under the name `beside` in its folder first. Yields the path of each change that was made.
 */
export function* makeChanges(
  changes: readonly TreeChange[],
  { from, to, now, beside }: { from: TreePlace; to: TreePlace; now: TreeListing; beside: string },
): Generator<string | undefined, void, void> {
  for (const { key, before, after } of changes.toReversed()) {
    if (before === undefined || (before.kind !== 'folder' && after !== undefined && after.kind !== 'folder'))
      continue;
    if (before.kind === 'folder' && after?.kind === 'folder') continue;
    const { folder, name } = openAbove(to, key);
    using _ = folder;
    assertSame({ folder, name }, now.get(key));
    if (before.kind === 'folder') rmdirSync(folder.at(name));
    else unlinkSync(folder.at(name));
    yield after === undefined ? key : undefined;
  }
  for (const { key, before, after } of changes) {
    if (after === undefined) continue;
    const at = openAbove(to, key);
    using _ = at.folder;
    if (after.kind === 'folder') {
      if (before?.kind !== 'folder') makeFolder(at);
      continue;
    }
    const wasRemoved = before !== undefined && before.kind === 'folder';
    const old = wasRemoved ? undefined : now.get(key);
    assertSame(at, old);
    if (before !== undefined && hasSameContent(before, after)) setMode(at, old!, after.mode);
    else yield* putEntry(key, after, from, { at, beside });
    yield key;
  }
  for (const { key, after } of changes.toReversed()) {
    if (after?.kind !== 'folder') continue;
    const { folder, name } = openAbove(to, key);
    using _ = folder;
    using own = folder.child(name);
    chmodSync(own.self, after.mode & 0o777);
    yield key;
  }
}

/**
 * Removes the file that `makeChanges` was writing under the name `beside` when its process was killed. A file that it cannot have written
 * stays: one that is beside no changed entry, or has another owner.
 */
export function* removeUnfinished(
  changes: readonly TreeChange[],
  to: TreePlace,
  beside: string,
): TreeWork<void> {
  for (const { key } of changes) {
    yield undefined;
    let at: TreePlace;
    try {
      at = openAbove(to, key);
    } catch (error) {
      if (['ENOENT', 'ENOTDIR'].includes(errorCode(error) ?? '')) continue;
      throw error;
    }
    using folder = at.folder;
    const stats = folder.statsOf(beside);
    const isKind = stats?.isFile() || stats?.isSymbolicLink();
    if (isKind && ownersOf(at).includes(stats!.uid)) unlinkSync(folder.at(beside));
  }
}

/** Whose an unfinished file can be: as root it gets the owner of the entry that it replaces, or of its folder. */
function ownersOf({ folder, name }: TreePlace): (number | undefined)[] {
  const own = process.geteuid?.() ?? folder.stats().uid;
  return isRoot() ? [own, (folder.statsOf(name) ?? folder.stats()).uid] : [own];
}

/** Writes the entry beside its place, and moves it there. */
function* putEntry(
  key: string,
  entry: TreeEntry,
  from: TreePlace,
  { at: to, beside: name }: { at: TreePlace; beside: string },
): Generator<undefined, void, void> {
  const { folder } = to;
  const beside = { folder, name };
  const path = folder.at(beside.name);
  try {
    if (entry.kind === 'link') symlinkSync(Buffer.from(entry.link!, 'latin1'), path);
    else {
      const source = openAbove(from, key);
      using _ = source.folder;
      const { uid, gid } = folder.statsOf(to.name) ?? folder.stats();
      const sha256 = yield* copyFile(source, beside, (fd) => {
        if (isRoot()) fchownSync(fd, uid, gid);
        fchmodSync(fd, entry.mode & 0o777);
      });
      if (sha256 !== entry.sha256) throw changedMeanwhile(key);
    }
    renameSync(path, folder.at(to.name));
  } catch (error) {
    unlinkIfThere(beside);
    throw error;
  }
}

function makeFolder({ folder, name }: TreePlace): void {
  mkdirSync(folder.at(name), INTERIM_MODE);
  using own = folder.child(name);
  // Only Linux takes the sticky bit from mkdir.
  if (process.platform !== 'linux') chmodSync(own.self, INTERIM_MODE);
  if (!isRoot()) return;
  const { uid, gid } = folder.stats();
  chownSync(own.self, uid, gid);
}

/** Of the very entry that was compared, and of no other that has taken its place. */
function setMode({ folder, name }: TreePlace, expected: TreeEntry, mode: number): void {
  folder.hold(name, (path, stats) => {
    if (stampOf(stats) !== expected.stamp) throw changedMeanwhile(`${folder.path}/${String(name)}`);
    chmodSync(path, mode & 0o777);
  });
}

function isRoot(): boolean {
  return process.geteuid?.() === 0;
}

function assertSame({ folder, name }: TreePlace, expected: TreeEntry | undefined): void {
  const stats = folder.statsOf(name);
  const isFolder = expected?.kind === 'folder' && stats?.isDirectory();
  if (isFolder || (stats && stampOf(stats)) === expected?.stamp) return;
  throw changedMeanwhile(`${folder.path}/${String(name)}`);
}

function changedMeanwhile(path: string): Error {
  return Object.assign(new Error(`${path} changed at this moment`), { code: 'ESTALE' });
}

function unlinkIfThere({ folder, name }: TreePlace): void {
  if (folder.statsOf(name) !== undefined) unlinkSync(folder.at(name));
}
