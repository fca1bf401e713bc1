import {
  closeSync,
  fchmodSync,
  futimesSync,
  openSync,
  readlinkSync,
  readSync,
  type Stats,
  symlinkSync,
} from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { writeFully } from '../../../util/atomic-write.ts';
import { type EntryName, OpenFolder } from '../../../util/open-folder.ts';
import { removeTree, walkTree } from '../../../util/walk-tree.ts';
import type { RunWorkspace } from '../workspace.ts';

const CHUNK_BYTES = 1 << 18;

/**
 * A place in a folder that is held open. All that the runner does with outputs goes through it, because a tool, or another run, can replace
 * any folder above by a link.
 */
export class OutputPlace implements Disposable {
  readonly folder: OpenFolder;
  readonly name: string;

  private constructor(folder: OpenFolder, name: string) {
    this.folder = folder;
    this.name = name;
  }

  /** A place in the staging folder. Throws ENOTDIR when the tool has replaced a folder above it by something else. */
  static staged(workspace: RunWorkspace, path: string): OutputPlace {
    const inside = relative(workspace.work, dirname(path));
    using work = openWork(workspace);
    return new OutputPlace(work.below(inside), basename(path));
  }

  /** A place at a real path; folders that are missing are made. Throws ENOTDIR when a folder above it has become a link. */
  static target(path: string): OutputPlace {
    return new OutputPlace(OpenFolder.real(dirname(path), { makes: true }), basename(path));
  }

  /** A place at a real path. Throws ENOENT or ENOTDIR when a folder above it is missing or has become a link. */
  static existing(path: string): OutputPlace {
    return new OutputPlace(OpenFolder.real(dirname(path)), basename(path));
  }

  /** Another place in the same folder. */
  beside(name: string): OutputPlace {
    return new OutputPlace(this.folder.below(''), name);
  }

  get path(): string | Buffer {
    return this.folder.at(this.name);
  }

  stats(): Stats | undefined {
    return this.folder.statsOf(this.name);
  }

  remove(): void {
    removeTree(this.folder, this.name);
  }

  [Symbol.dispose](): void {
    this.folder[Symbol.dispose]();
  }
}

/** Makes the folders in which a tool writes its outputs, without anything that an earlier attempt has left there. */
export function makeStagingFolders(workspace: RunWorkspace, folders: readonly string[]): void {
  const { staging } = workspace;
  using above = openWork(workspace);
  removeTree(above, basename(staging));
  for (const folder of folders) {
    using _ = above.below(join(basename(staging), relative(staging, folder)), { makes: true });
  }
}

/** Copies a file or folder, with links, modes and times as they are. */
export function copyOutput(from: OutputPlace, to: OutputPlace): void {
  const stats = from.stats();
  if (stats?.isDirectory()) {
    using source = from.folder.child(from.name);
    using target = to.folder.makeChild(to.name);
    copyEntries(source, target);
    return;
  }
  copyEntry(from, to);
}

function copyEntries(source: OpenFolder, target: OpenFolder): void {
  const targets = [target];
  try {
    for (const step of walkTree(source)) {
      const into = targets.at(-1)!;
      if (step.kind === 'folder') targets.push(into.makeChild(step.name, step.stats.mode & 0o777));
      else if (step.kind === 'left') targets.pop()![Symbol.dispose]();
      else copyEntry(step, { folder: into, name: step.name });
    }
  } finally {
    for (const folder of targets.slice(1)) folder[Symbol.dispose]();
  }
}

interface Entry {
  folder: OpenFolder;
  name: EntryName;
}

function copyEntry(from: Entry, to: Entry): void {
  const stats = from.folder.statsOf(from.name);
  if (stats?.isSymbolicLink()) {
    symlinkSync(readlinkSync(from.folder.at(from.name), { encoding: 'buffer' }), to.folder.at(to.name));
    return;
  }
  const source = from.folder.openFile(from.name);
  try {
    const target = openSync(to.folder.at(to.name), 'wx');
    try {
      const chunk = Buffer.alloc(CHUNK_BYTES);
      for (let count = readSync(source, chunk); count > 0; count = readSync(source, chunk))
        writeFully(target, chunk.subarray(0, count));
      fchmodSync(target, stats!.mode & 0o777);
      futimesSync(target, stats!.atimeMs / 1000, stats!.mtimeMs / 1000);
    } finally {
      closeSync(target);
    }
  } finally {
    closeSync(source);
  }
}

/** Opens the folder in which the tool works. Throws ENOENT or ENOTDIR when the tool has removed or replaced it. */
export function openWork({ dir, work }: RunWorkspace): OpenFolder {
  using run = OpenFolder.trusted(dir);
  return run.child(basename(work));
}
