import { chmodSync, closeSync, readlinkSync, readSync, type Stats } from 'node:fs';
import { errorCode } from './error-code.ts';
import type { EntryName, OpenFolder } from './open-folder.ts';
import { nextTurn } from './pause.ts';
import { newSha256 } from './sha256.ts';
import { walkTree } from './walk-tree.ts';

/** One entry of a tree. Pipes, devices and sockets are `special`. */
export interface TreeEntry {
  kind: 'file' | 'folder' | 'link' | 'special';
  /** The permission bits, with those for set-id. */
  mode: number;
  /** Of a file. */
  size?: number;
  sha256?: string;
  /** The text of a link, one character for each byte. */
  link?: string;
  /** Any change of the entry changes it; that of its mode and owner, too. */
  stamp: string;
}

/** The entries of a tree by their path in it, one character for each byte, as names need not be UTF-8. The root is ''. */
export type TreeListing = ReadonlyMap<string, TreeEntry>;

/** Where a tree is: a file, a folder, or nothing, in a folder that is held open. */
export interface TreePlace {
  folder: OpenFolder;
  name: EntryName;
}

/** How large a tree may be. */
export interface TreeBound {
  entries: number;
  bytes: number;
}

/** The tree is larger than its bound. */
export class TreeTooLarge extends Error {}

/** A step is yielded after each piece of work, so that timers get their turn. */
export type TreeWork<T> = Generator<undefined, T, void>;

const CHUNK_BYTES = 1 << 18;
const PIECE_BYTES = 1 << 23;
const SLICE_MS = 5;
const MODE_BITS = 0o7777;
/** The kernel's limit. Without one, the paths of a million nested folders would fill the memory. */
const MAX_PATH_BYTES = 4096;

/**
 * Lists a tree, without following links, and hashes its files. Of an entry in `known` with the same stamp, the hash is taken from there. With
 * `opens`, files and folders that their owner may not read are opened for it: a tool has left them in a folder of ACOR's.
 */
export function* listTree(
  place: TreePlace,
  bound: TreeBound,
  { known, opens = false }: { known?: TreeListing; opens?: boolean } = {},
): TreeWork<TreeListing> {
  const listing = new Map<string, TreeEntry>();
  const counter = new TreeCounter(bound);
  for (const { key, folder, name, stats } of treeSteps(place, { opens })) {
    counter.add(stats);
    const same = known?.get(key);
    if (same?.stamp === stampOf(stats)) listing.set(key, same);
    else listing.set(key, yield* entryOf({ folder, name }, stats, { opens }));
    yield undefined;
  }
  return listing;
}

/** Counts the entries and bytes of a tree. Throws TreeTooLarge. */
export class TreeCounter {
  readonly #bound: TreeBound;
  #entries = 0;
  #bytes = 0;

  constructor(bound: TreeBound) {
    this.#bound = bound;
  }

  add(stats: Stats): void {
    this.#entries++;
    if (stats.isFile()) this.#bytes += stats.size;
    const { entries, bytes } = this.#bound;
    if (this.#entries > entries) throw new TreeTooLarge(`it has more than ${entries} entries`);
    if (this.#bytes > bytes) throw new TreeTooLarge(`its files have more than ${bytes} bytes`);
  }
}

/** An entry of a tree. Its folder is open until the next one. */
export interface TreeStop extends TreePlace {
  key: string;
  stats: Stats;
}

/** The entries of a tree, a folder before those in it. */
export function* treeSteps(
  { folder, name }: TreePlace,
  { opens = false }: { opens?: boolean } = {},
): Generator<TreeStop, void, void> {
  const stats = folder.statsOf(name);
  if (stats === undefined) return;
  yield { key: '', folder, name, stats };
  if (!stats.isDirectory()) return;
  using root = folder.child(name);
  if (opens) openForOwner(root);
  const path: string[] = [];
  const enters = ({ own }: { own: OpenFolder }) => {
    if (opens) openForOwner(own);
    return true;
  };
  for (const step of walkTree(root, { enters })) {
    if (step.kind === 'left') {
      path.pop();
      continue;
    }
    const key = [...path, step.name.toString('latin1')].join('/');
    if (key.length > MAX_PATH_BYTES) throw new TreeTooLarge('it is nested deeper than a path can be long');
    yield { key, folder: step.folder, name: step.name, stats: step.stats };
    if (step.kind === 'folder') path.push(step.name.toString('latin1'));
  }
}

function openForOwner(folder: OpenFolder): void {
  if ((folder.stats().mode & 0o500) !== 0o500) chmodSync(folder.self, 0o700);
}

function* entryOf(
  { folder, name }: TreePlace,
  stats: Stats,
  { opens }: { opens: boolean },
): TreeWork<TreeEntry> {
  const mode = stats.mode & MODE_BITS;
  const stamp = stampOf(stats);
  if (stats.isDirectory()) return { kind: 'folder', mode, stamp };
  if (stats.isSymbolicLink()) return { kind: 'link', mode: 0o777, link: linkText({ folder, name }), stamp };
  if (!stats.isFile()) return { kind: 'special', mode, stamp };
  const fd = openFile({ folder, name }, mode, opens);
  try {
    return { kind: 'file', mode, size: stats.size, sha256: yield* hashing(fd), stamp };
  } finally {
    closeSync(fd);
  }
}

function openFile({ folder, name }: TreePlace, mode: number, opens: boolean): number {
  try {
    return folder.openFile(name);
  } catch (error) {
    if (!opens || errorCode(error) !== 'EACCES') throw error;
    folder.hold(name, (path) => chmodSync(path, mode | 0o400));
    return folder.openFile(name);
  }
}

/** The text of a link, one character for each byte. */
export function linkText({ folder, name }: TreePlace): string {
  return readlinkSync(folder.at(name), { encoding: 'buffer' }).toString('latin1');
}

let chunk: Buffer | undefined;

/** The SHA-256 of an open file. */
export function* hashing(fd: number): TreeWork<string> {
  const hash = newSha256();
  // Used by all, as nothing is kept in it across a turn.
  chunk ??= Buffer.allocUnsafe(CHUNK_BYTES);
  for (let bytes = 0; ; ) {
    const count = readSync(fd, chunk, 0, chunk.length, null);
    if (count === 0) return hash.digest('hex');
    hash.update(chunk.subarray(0, count));
    bytes += count;
    if (bytes % PIECE_BYTES === 0) yield undefined;
  }
}

export function stampOf({ dev, ino, size, mtimeMs, ctimeMs }: Stats): string {
  return `${dev}:${ino}:${size}:${mtimeMs}:${ctimeMs}`;
}

/** Whether two entries have the same content and permissions; set-id bits do not count, as they are never passed on. */
export function isSameEntry(a: TreeEntry | undefined, b: TreeEntry | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return hasSameContent(a, b) && (a.mode & 0o777) === (b.mode & 0o777);
}

export function hasSameContent(a: TreeEntry, b: TreeEntry): boolean {
  return a.kind === b.kind && a.sha256 === b.sha256 && a.link === b.link;
}

/** Does the work in slices. `check` may throw, for example because a run was cancelled. */
export async function inSlices<T>(work: TreeWork<T>, check: () => void = () => {}): Promise<T> {
  let sliceEndMs = performance.now() + SLICE_MS;
  for (let step = work.next(); ; step = work.next()) {
    if (step.done) return step.value;
    if (performance.now() < sliceEndMs) continue;
    await nextTurn();
    try {
      check();
    } catch (error) {
      work.throw(error);
    }
    sliceEndMs = performance.now() + SLICE_MS;
  }
}

/** Opens the folder of a path in a tree, without following links. */
export function openAbove(place: TreePlace, key: string): TreePlace {
  let folder = place.folder.below('');
  let name = place.name;
  if (key === '') return { folder, name };
  for (const part of key.split('/')) {
    using above = folder;
    folder = above.child(name);
    name = Buffer.from(part, 'latin1');
  }
  return { folder, name };
}
