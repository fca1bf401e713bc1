import { closeSync, fstatSync, readlinkSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { OpenFolder } from '../../../../util/open-folder.ts';
import { newSha256 } from '../../../../util/sha256.ts';
import {
  isNamed,
  isProtectedFile,
  PROTECTED_FOLDERS,
  SCRIPTS_FILE,
  scriptsIn,
  UNWALKED_FOLDERS,
} from '../../../sandbox/profile/protected-names.ts';

/** The most entries of the granted folders that are read, and the most bytes of each protected file that are compared. */
const MAX_ENTRIES = 20_000;
const MAX_BYTES = 1_000_000;
/** Each folder is opened from the top, so nested ones take time that grows with the square of their depth. */
const MAX_DEPTH = 50;

/** A snapshot of the protected files and folders below some folders: each path with a signature of its content. */
export interface ProtectedState {
  seen: ReadonlyMap<string, string>;
  /** Whether the folders have more entries or levels than the limits. */
  isCut: boolean;
}

/** A difference between two snapshots. */
export interface ProtectedChange {
  path: string;
  change: 'added' | 'changed' | 'removed';
}

/**
 * Takes a snapshot of folders, the outer levels first, without following links. Owners and times are not compared: a root supervisor
 * changes the owners itself.
 */
export function protectedState(roots: readonly string[]): ProtectedState {
  const seen = new Map<string, string>();
  const queue = roots.map((path) => ({ path, isProtected: false, depth: 0 }));
  let isCut = false;
  let left = MAX_ENTRIES;
  for (const { path, isProtected, depth } of queue) {
    if (depth > MAX_DEPTH) {
      isCut = true;
      continue;
    }
    using folder = openIfPossible(path);
    for (const name of namesIn(folder)) {
      if (left-- <= 0) return { seen, isCut: true };
      const at = join(path, name);
      const isFolder = isFolderIn(folder!, name);
      if (isFolder && !isNamed(UNWALKED_FOLDERS, at)) {
        const isInner = isProtected || isNamed(PROTECTED_FOLDERS, at);
        if (isInner) seen.set(at, 'folder');
        queue.push({ path: at, isProtected: isInner, depth: depth + 1 });
      } else if (!isFolder && (isProtected || isProtectedFile(at))) seen.set(at, signatureOf(folder!, name));
    }
  }
  return { seen, isCut };
}

/** The differences. For an added or removed folder, only the folder is listed and not its entries. */
export function protectedChanges(before: ProtectedState, after: ProtectedState): ProtectedChange[] {
  const changes: ProtectedChange[] = [];
  for (const path of [...new Set([...before.seen.keys(), ...after.seen.keys()])].sort()) {
    const [was, is] = [before.seen.get(path), after.seen.get(path)];
    if (was === is) continue;
    const change = was === undefined ? 'added' : is === undefined ? 'removed' : 'changed';
    if (changes.some((outer) => outer.change === change && path.startsWith(`${outer.path}/`))) continue;
    changes.push({ path, change });
  }
  return changes;
}

/** A folder that was removed, closed or replaced by a link has no entries. */
function openIfPossible(path: string): OpenFolder | undefined {
  try {
    return OpenFolder.real(path);
  } catch {
    return undefined;
  }
}

function namesIn(folder: OpenFolder | undefined): string[] {
  try {
    return folder?.names().map(String) ?? [];
  } catch {
    return [];
  }
}

function isFolderIn(folder: OpenFolder, name: string): boolean {
  try {
    return folder.statsOf(name)?.isDirectory() === true;
  } catch {
    return false;
  }
}

function signatureOf(folder: OpenFolder, name: string): string {
  try {
    const stats = folder.statsOf(name)!;
    if (stats.isSymbolicLink()) return `link ${readlinkSync(folder.at(name))}`;
    if (!stats.isFile()) return 'neither file nor folder';
    return `${stats.mode} ${contentOf(folder, name)}`;
  } catch {
    return 'cannot be read';
  }
}

function contentOf(folder: OpenFolder, name: string): string {
  const fd = folder.openFile(name);
  try {
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, MAX_BYTES));
    const read = bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0));
    const compared = name === SCRIPTS_FILE ? (scriptsIn(read.toString('utf8')) ?? read) : read;
    return `${compared === read ? size : ''} ${newSha256().update(compared).digest('hex')}`;
  } finally {
    closeSync(fd);
  }
}
