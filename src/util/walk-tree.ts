import { chmodSync, rmdir, rmdirSync, type Stats, unlink, unlinkSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { errorCode } from './error-code.ts';
import { childPath, type EntryName, OpenFolder } from './open-folder.ts';

/** So many folders are held open at once; those further up are opened again on the way back. */
const OPEN_FOLDERS = 64;

/** A step of a walk. The folder of an entry is open only until the next step. */
export type TreeStep = {
  /** The folder that contains it. */
  folder: OpenFolder;
  name: Buffer;
  /** For messages: a name that is no UTF-8 cannot be opened by it. */
  path: string;
} & (
  | { kind: 'entry'; stats: Stats }
  /** `own` is the folder itself. Its entries follow. */
  | { kind: 'folder'; stats: Stats; own: OpenFolder }
  /** After the entries of a folder. */
  | { kind: 'left' }
);

interface Level {
  name: Buffer;
  /** Undefined while it is not held. */
  folder: OpenFolder | undefined;
  stats: Stats;
  names: Buffer[];
}

/**
 * Walks everything below a folder without following links, without recursion, and with few descriptors, so that a tool can neither lead
 * the walk elsewhere nor exhaust it by a million nested folders. Entries that vanish are left out. `onError` gets a folder that
 * cannot be read, and may throw; without it the error is thrown. Throws ESTALE when a deep folder was moved during the walk.
 */
export function* walkTree(
  root: OpenFolder,
  options: {
    /** Whether to walk the entries of a folder. */
    enters?(step: { path: string; stats: Stats; own: OpenFolder }): boolean;
    onError?(error: unknown, path: string): void;
  } = {},
): Generator<TreeStep, void, void> {
  const onError = options.onError ?? rethrow;
  const levels: Level[] = [];
  const enter = (name: Buffer, folder: OpenFolder, stats: Stats): void => {
    let names: Buffer[] = [];
    try {
      names = folder.names();
    } catch (error) {
      // Another process has removed it at this moment.
      if (errorCode(error) !== 'ENOENT') onError(error, folder.path);
    }
    levels.push({ name, folder, stats, names });
    const far = levels.at(-1 - OPEN_FOLDERS);
    // The root belongs to the caller.
    if (far === undefined || far === levels[0]) return;
    far.folder?.[Symbol.dispose]();
    far.folder = undefined;
  };
  try {
    enter(Buffer.alloc(0), root, root.stats());
    for (let level = levels.at(-1); level !== undefined; level = levels.at(-1)) {
      const folder = level.folder!;
      const name = level.names.pop();
      if (name !== undefined) {
        const found = lookAt(folder, name, onError);
        if (found === undefined) continue;
        const step = { folder, name, path: childPath(folder.path, name), stats: found.stats };
        if (found.own === undefined) yield { kind: 'entry', ...step };
        else {
          const { own } = found;
          let isEntered = false;
          try {
            yield { kind: 'folder', ...step, own };
            if (options.enters?.({ path: step.path, stats: found.stats, own }) !== false) {
              enter(name, own, own.stats());
              isEntered = true;
            }
          } finally {
            if (!isEntered) own[Symbol.dispose]();
          }
        }
        continue;
      }
      const above = levels.at(-2);
      if (above === undefined) return;
      above.folder ??= reopened(folder, above);
      levels.pop();
      const { path } = folder;
      folder[Symbol.dispose]();
      yield { kind: 'left', folder: above.folder, name: level.name, path };
    }
  } finally {
    for (const { folder } of levels.slice(1)) folder?.[Symbol.dispose]();
  }
}

function lookAt(
  folder: OpenFolder,
  name: Buffer,
  onError: (error: unknown, path: string) => void,
): { stats: Stats; own: OpenFolder | undefined } | undefined {
  try {
    const stats = folder.statsOf(name);
    if (stats === undefined) return undefined;
    return { stats, own: stats.isDirectory() ? folder.child(name) : undefined };
  } catch (error) {
    // It was removed or replaced at this moment.
    if (errorCode(error) !== 'ENOENT' && errorCode(error) !== 'ENOTDIR')
      onError(error, childPath(folder.path, name));
    return undefined;
  }
}

function reopened(from: OpenFolder, { stats: { dev, ino } }: Level): OpenFolder {
  const above = from.above();
  const now = above.stats();
  if (now.dev === dev && now.ino === ino) return above;
  above[Symbol.dispose]();
  throw Object.assign(new Error(`${from.path} was moved while it was read`), { code: 'ESTALE' });
}

function rethrow(error: unknown): never {
  throw error;
}

/** Removes an entry with everything below it, also folders that their owner may not change at the moment. Links are not followed. */
export function removeTree(folder: OpenFolder, name: EntryName): void {
  for (const { path, isFolder } of removing(folder, name)) {
    try {
      if (isFolder) rmdirSync(path);
      else unlinkSync(path);
    } catch (error) {
      // Another process may remove the same tree.
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }
}

/** The same for a path whose folder only ACOR and its user can replace. */
export function removePath(path: string): void {
  using folder = openIfThere(dirname(path));
  if (folder !== undefined) removeTree(folder, basename(path));
}

function openIfThere(path: string): OpenFolder | undefined {
  try {
    return OpenFolder.trusted(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The same on other threads: most of the time is the disk's, and several trees are removed at once. */
export async function removeTreeBeside(folder: OpenFolder, name: EntryName): Promise<void> {
  for (const { path, isFolder } of removing(folder, name)) {
    await new Promise<void>((resolve, reject) =>
      (isFolder ? rmdir : unlink)(path, (error) => {
        if (error === null || errorCode(error) === 'ENOENT') resolve();
        else reject(error);
      }),
    );
  }
}

/** What is to be removed, and in which order. Each is to be removed before the next one is asked for. */
function* removing(
  folder: OpenFolder,
  name: EntryName,
): Generator<{ path: string | Buffer; isFolder: boolean }, void, void> {
  const stats = folder.statsOf(name);
  if (stats === undefined) return;
  if (!stats.isDirectory()) {
    yield { path: folder.at(name), isFolder: false };
    return;
  }
  {
    using own = childIfThere(folder, name);
    if (own === undefined) return;
    openForOwner(own);
    for (const step of walkTree(own, { enters: ({ own: inner }) => openForOwner(inner) })) {
      if (step.kind !== 'folder') yield { path: step.folder.at(step.name), isFolder: step.kind === 'left' };
    }
  }
  yield { path: folder.at(name), isFolder: true };
}

function childIfThere(folder: OpenFolder, name: EntryName): OpenFolder | undefined {
  try {
    return folder.child(name);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    return undefined;
  }
}

/** A tool may have left folders that its own user may not change. */
function openForOwner(folder: OpenFolder): true {
  if ((folder.stats().mode & 0o700) !== 0o700) {
    try {
      chmodSync(folder.self, 0o700);
    } catch {
      // The folder belongs to another user; what is done with it fails with the reason.
    }
  }
  return true;
}
