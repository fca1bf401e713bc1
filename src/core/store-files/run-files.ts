import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { isRunId } from '../../protocol/run.ts';
import { errorCode } from '../../util/error-code.ts';
import { refuseLinks } from '../../util/regular-file.ts';
import { folderOf, layoutOf } from './layout.ts';
import { type FoundRun, PackedFile } from './packed-file.ts';
import { PackedRuns } from './packed-runs.ts';
import { pathInside, pathNow } from './path-now.ts';
import { PlainFile, type ReadableFile } from './readable-file.ts';
import { storageError } from './storage-error.ts';

/**
 * The files of the runs, in folders and in packs. The folder of a run always counts more than a copy in a pack: so a process that packs or
 * unpacks a run can be killed at any point.
 */
export class RunFiles {
  readonly packed: PackedRuns;
  readonly #root: string;

  constructor(root: string) {
    this.#root = root;
    this.packed = new PackedRuns(root);
  }

  /**
   * Opens a file of a run, by its path in the run's folder. Undefined when the run has no such file, or does not exist. Throws `NOT_REGULAR`
   * for a link anywhere below the store.
   */
  open(runId: string, path: string): ReadableFile | undefined {
    const dir = folderOf(this.#root, runId);
    refuseLinks(this.#root, join(runId, dirname(path)));
    for (;;) {
      try {
        return new PlainFile(join(dir, path));
      } catch (error) {
        if (errorCode(error) !== 'ENOENT') throw error;
      }
      if (existsSync(dir)) return undefined;
      const found = this.packed.find(runId);
      if (found === undefined) {
        // Another process may have unpacked the run since the folder was looked for.
        if (existsSync(dir)) continue;
        return undefined;
      }
      const entry = found.run.files.find((file) => file.path === path);
      if (entry === undefined) return undefined;
      const file = PackedFile.open(found, entry);
      if (file !== undefined) return file;
    }
  }

  /** Whether a run has a record. True also for a run that may be in a damaged pack. */
  has(runId: string): boolean {
    const { metadata } = layoutOf(this.#root, runId);
    return existsSync(metadata) || this.#isPacked(runId) || existsSync(metadata);
  }

  /** Where a run is packed; undefined for one with a folder. */
  inPack(runId: string): FoundRun | undefined {
    return existsSync(folderOf(this.#root, runId)) ? undefined : this.packed.find(runId);
  }

  /** The ids of all runs, sorted. */
  list(): string[] {
    let names: string[];
    try {
      names = readdirSync(this.#root);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return [];
      throw storageError(error, 'list the runs', this.#root);
    }
    const ids = names.filter(isRunId);
    if (!this.packed.exist) return ids.sort();
    // A run that was unpacked between the two listings is in neither of them: its folder is looked for again.
    const packed = this.#packedIds();
    const again = readdirSync(this.#root).filter(isRunId);
    return [...new Set([...ids, ...packed, ...again])].sort();
  }

  /** The path of a file within the folder of a run; undefined for any other file. */
  pathInside(runId: string, path: string): string | undefined {
    return pathInside(this.#root, runId, path);
  }

  /** Throws `NOT_REGULAR` when a link is on the way to a file of a run's folder. */
  refuseLinks(runId: string, inside: string): void {
    refuseLinks(this.#root, join(runId, inside));
  }

  /** Where a recorded file is now. */
  pathNow(runId: string, path: string): string {
    return pathNow(this.#root, runId, path);
  }

  /** Where another user's packs cannot be listed, the runs with folders can. */
  #packedIds(): string[] {
    try {
      return this.packed.ids();
    } catch (error) {
      if (error instanceof AcorError) return [];
      throw error;
    }
  }

  #isPacked(runId: string): boolean {
    try {
      return this.packed.find(runId) !== undefined;
    } catch (error) {
      if (error instanceof AcorError) return true;
      throw error;
    }
  }
}
