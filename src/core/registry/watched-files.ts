import { type Dirent, lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { errorCode } from '../../util/error-code.ts';
import { type Signature, Signatures } from '../../util/file-signature.ts';
import { type RealPath, realPathOf } from '../../util/real-path.ts';
import { readShebang } from './languages/executable.ts';

/**
 * Reads files and records their signatures, so that a later start needs only a few stats to see whether derived values
 * are still valid.
 */
export class WatchedFiles {
  readonly #signatures = new Signatures();
  readonly #lists = new Map<string, Dirent[]>();

  /** The type of a path, without following a symlink. */
  lstat(path: string): Stats | undefined {
    this.#signatures.take(path);
    return lstatOf(path);
  }

  /** The target of a path; undefined when it does not exist. */
  realPath(path: string, cwd: string): RealPath | undefined {
    this.#signatures.take(path);
    try {
      const real = realPathOf(path, cwd);
      this.#signatures.take(real.path);
      return real;
    } catch {
      return undefined;
    }
  }

  /** The entries of a folder by name; undefined when the folder does not exist. */
  list(path: string): Dirent[] | undefined {
    const known = this.#lists.get(path);
    if (known !== undefined) return known;
    this.#signatures.take(path);
    try {
      const entries = readdirSync(path, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
      this.#lists.set(path, entries);
      return entries;
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  /** The type of a name according to its folder's list, so the file itself need not be watched. */
  entryIn(dir: string, name: string): Dirent | undefined {
    return this.list(dir)?.find((entry) => entry.name === name);
  }

  shebang(path: string): string[] | null {
    this.#signatures.take(path);
    try {
      return readShebang(path);
    } catch {
      return null;
    }
  }

  /** Whether a file has the mode bit x. */
  isExecutable(path: string): boolean {
    this.#signatures.take(path);
    try {
      const stats = statSync(path);
      return stats.isFile() && (stats.mode & 0o111) !== 0;
    } catch {
      return false;
    }
  }

  /** The recorded signatures, or null when a change is so recent that its timestamp may hide another change. */
  signatures(): Record<string, Signature> | null {
    return this.#signatures.all();
  }
}

function lstatOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
