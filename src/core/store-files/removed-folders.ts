import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '../../util/error-code.ts';
import { newSpanId } from '../../util/ids.ts';

/** So many folders are deleted at a time. */
const DELETED_AT_ONCE = 8;

/** `.runs/removed/`: a folder is moved there by one rename before its files are deleted, so that no reader finds a part of a run. */
export class RemovedFolders {
  readonly #folder: string;

  constructor(root: string) {
    this.#folder = join(root, 'removed');
    mkdirSync(this.#folder, { recursive: true });
  }

  /** A folder that was removed by hand meanwhile is gone as well. */
  take(dir: string): void {
    try {
      renameSync(dir, join(this.#folder, newSpanId()));
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
    }
  }

  /** Deletes what was taken, also by a process that was killed before it could. */
  async delete(): Promise<void> {
    const names = readdirSync(this.#folder);
    const next = async () => {
      for (let name = names.pop(); name !== undefined; name = names.pop())
        await rm(join(this.#folder, name), { recursive: true, force: true });
    };
    await Promise.all(Array.from({ length: DELETED_AT_ONCE }, next));
  }
}
