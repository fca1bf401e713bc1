import { join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { newSha256 } from '../../util/sha256.ts';
import { EVENTS } from '../store-files/layout.ts';
import type { FoundRun } from '../store-files/packed-file.ts';
import { sha256Of } from '../store-files/readable-file.ts';
import type { RunFiles } from '../store-files/run-files.ts';

/** Where the recorded artifacts of a run are, and what they are when the run is in a pack. */
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
    const { files, folders } = this.#found.run;
    if (files.some((file) => file.path === inside)) return this.#sha256Of(inside);
    if (!folders.some((folder) => folder.path === inside)) return undefined;
    const lines = newSha256();
    for (const name of this.#namesBelow(inside))
      lines.update(`${this.#sha256Of(`${inside}/${name}`)}  ${name}\n`);
    return lines.digest('hex');
  }

  /** Where a recorded file or folder is now. */
  pathNow(path: string): string {
    return this.#files.pathNow(this.#runId, path);
  }

  /** The paths of the files and folders below a packed folder. */
  pathsBelow(folder: string): string[] | undefined {
    const inside = this.#inside(folder);
    if (this.#found === undefined || inside === undefined) return undefined;
    const { files, folders } = this.#found.run;
    return [...files, ...folders]
      .filter(({ path }) => path.startsWith(`${inside}/`))
      .map(({ path }) => join(folder, path.slice(inside.length)));
  }

  /** The files besides the log, which has seals, whose content is not what was packed. */
  damagedFiles(): { path: string; problem: string }[] {
    const { run, table } = this.#found ?? {};
    return (run?.files ?? []).flatMap(({ path, sha256 }) => {
      const problem = path === EVENTS ? undefined : this.#problemOf(path, sha256);
      return problem === undefined ? [] : [{ path: `${table!.path}/${this.#runId}/${path}`, problem }];
    });
  }

  #inside(path: string): string | undefined {
    return this.#found && this.#files.pathInside(this.#runId, path);
  }

  /** The paths of the files below a folder, relative to it, sorted. */
  #namesBelow(folder: string): string[] {
    const below = this.#found!.run.files.filter(({ path }) => path.startsWith(`${folder}/`));
    return below.map(({ path }) => path.slice(folder.length + 1)).sort();
  }

  #problemOf(path: string, packed: string): string | undefined {
    try {
      const sha256 = this.#sha256Of(path);
      // Undefined: the run was removed meanwhile.
      return sha256 === undefined || sha256 === packed
        ? undefined
        : `its sha256 is ${sha256}; ${packed} was packed`;
    } catch (error) {
      if (error instanceof AcorError) return error.message;
      throw error;
    }
  }

  /** Opens the file as any reader does: the pack may be replaced, or the run unpacked, while it is verified. */
  #sha256Of(path: string): string | undefined {
    using file = this.#files.open(this.#runId, path);
    return file === undefined ? undefined : sha256Of(file);
  }
}
