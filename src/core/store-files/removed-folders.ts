import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../util/error-code.ts';
import { newSpanId } from '../../util/ids.ts';
import { OpenFolder } from '../../util/open-folder.ts';
import { refuseLinks } from '../../util/regular-file.ts';
import { removeTreeBeside } from '../../util/walk-tree.ts';
import { storageError } from './storage-error.ts';

/** So many folders are deleted at a time. */
const DELETED_AT_ONCE = 8;

const FOLDER = 'removed';

/** `.runs/removed/`: a folder is moved there by one rename before its files are deleted, so that no reader finds a part of a run. */
export class RemovedFolders {
  readonly #root: string;
  readonly #folder: string;
  readonly #kept = new Map<string, unknown>();

  constructor(root: string) {
    this.#root = root;
    this.#folder = join(root, FOLDER);
  }

  /** A folder that was removed by hand meanwhile is gone as well. */
  take(dir: string): void {
    if (!existsSync(dir)) return;
    refuseLinks(this.#root, FOLDER);
    mkdirSync(this.#folder, { recursive: true });
    try {
      renameSync(dir, join(this.#folder, newSpanId()));
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }

  /**
   * Deletes what was taken, also by a process that was killed before it could. A folder that cannot be deleted does not keep the others:
   * `assertAllDeleted` reports it.
   */
  async delete(): Promise<void> {
    if (!existsSync(this.#folder)) return;
    using root = OpenFolder.trusted(this.#root);
    // Everything in it is deleted: a link that another process puts in its place now is not followed either.
    using folder = root.child(FOLDER);
    const names = readdirSync(folder.self).filter((name) => !this.#kept.has(name));
    const next = async () => {
      for (let name = names.pop(); name !== undefined; name = names.pop()) {
        try {
          await removeTreeBeside(folder, name);
        } catch (error) {
          this.#kept.set(name, error);
        }
      }
    };
    await Promise.all(Array.from({ length: DELETED_AT_ONCE }, next));
  }

  /** Throws E_STORAGE or E_PERMISSION when a folder could not be deleted. */
  assertAllDeleted(): void {
    for (const [name, error] of this.#kept)
      throw storageError(error, 'delete the files of a removed run', join(this.#folder, name));
  }
}
