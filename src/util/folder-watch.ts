import { type FSWatcher, statSync, watch } from 'node:fs';
import { join } from 'node:path';

interface Watched {
  watcher: FSWatcher;
  inode: number;
}

/** Watches the entries of any number of folders, without polling. */
export class FolderWatch {
  readonly #onChange: (path: string) => void;
  readonly #watched = new Map<string, Watched>();

  constructor(onChange: (path: string) => void) {
    this.#onChange = onChange;
  }

  /**
   * Watches these folders and no others; a folder that does not exist is left out. `hasNew` says that a change before
   * this call may have been missed, `isComplete` that the system watches them all.
   */
  set(folders: Iterable<string>): { hasNew: boolean; isComplete: boolean } {
    const wanted = new Set(folders);
    for (const folder of this.#watched.keys()) if (!wanted.has(folder)) this.#forget(folder);
    let hasNew = false;
    let isComplete = true;
    for (const folder of wanted) {
      const stats = statSync(folder, { throwIfNoEntry: false });
      // A folder of the same name may be another one by now.
      if (this.#watched.get(folder)?.inode !== stats?.ino) this.#forget(folder);
      if (stats === undefined || !stats.isDirectory() || this.#watched.has(folder)) continue;
      if (this.#add(folder, stats.ino)) hasNew = true;
      else isComplete = false;
    }
    return { hasNew, isComplete };
  }

  close(): void {
    for (const folder of [...this.#watched.keys()]) this.#forget(folder);
  }

  #add(folder: string, inode: number): boolean {
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) =>
        this.#onChange(name === null ? folder : join(folder, name)),
      );
      watcher.on('error', () => this.#forget(folder));
      this.#watched.set(folder, { watcher, inode });
      return true;
    } catch {
      // Too many watches, or a file system without them.
      return false;
    }
  }

  #forget(folder: string): void {
    this.#watched.get(folder)?.watcher.close();
    this.#watched.delete(folder);
  }
}
