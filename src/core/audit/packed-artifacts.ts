import { createHash } from 'node:crypto';
import { packedSha256, problemOf } from '../store-files/check-pack.ts';
import { EVENTS } from '../store-files/layout.ts';
import type { PackedFileEntry } from '../store-files/pack-table.ts';
import type { FoundRun } from '../store-files/packed-file.ts';
import type { RunFiles } from '../store-files/run-files.ts';

/** The artifacts and other files of a run that are in a pack; empty for a run with a folder. */
export class PackedArtifacts {
  readonly #files: RunFiles;
  readonly #runId: string;
  readonly #found: FoundRun | undefined;

  constructor(files: RunFiles, runId: string) {
    this.#files = files;
    this.#runId = runId;
    this.#found = files.inPack(runId);
  }

  /** The SHA-256 of a packed file or folder, as `measureArtifact` computes it; undefined for a path that is in no pack. */
  sha256(path: string): string | undefined {
    const inside = this.#inside(path);
    if (this.#found === undefined || inside === undefined) return undefined;
    const file = this.#found.run.files.find((each) => each.path === inside);
    if (file !== undefined) return packedSha256(this.#found, file);
    if (!this.#found.run.folders.some((folder) => folder.path === inside)) return undefined;
    const lines = createHash('sha256');
    for (const [name, each] of this.#filesIn(inside))
      lines.update(`${packedSha256(this.#found, each)}  ${name}\n`);
    return lines.digest('hex');
  }

  /** The names of the files directly in a packed folder. */
  namesIn(folder: string): string[] | undefined {
    const inside = this.#inside(folder);
    if (this.#found === undefined || inside === undefined) return undefined;
    return this.#filesIn(inside).flatMap(([name]) => (name.includes('/') ? [] : [name]));
  }

  /** The files besides the log, which has seals, whose content is not what was packed. */
  damagedFiles(): { path: string; problem: string }[] {
    const found = this.#found;
    if (found === undefined) return [];
    return found.run.files.flatMap((file) => {
      const problem = file.path === EVENTS ? undefined : problemOf(found, file);
      return problem === undefined
        ? []
        : [{ path: `${found.table.path}/${found.run.run_id}/${file.path}`, problem }];
    });
  }

  #inside(path: string): string | undefined {
    return this.#found && this.#files.pathInside(this.#runId, path);
  }

  /** The files below a folder by their path in it, sorted. */
  #filesIn(folder: string): [name: string, file: PackedFileEntry][] {
    const below = this.#found!.run.files.filter(({ path }) => path.startsWith(`${folder}/`));
    const named = below.map((file): [string, PackedFileEntry] => [file.path.slice(folder.length + 1), file]);
    return named.sort(([a], [b]) => (a < b ? -1 : 1));
  }
}
