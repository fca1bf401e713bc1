import { type Dirent, lstatSync, readdirSync, type Stats, statSync } from 'node:fs';
import { errorCode } from '../../util/error-code.ts';
import { type RealPath, realPathOf } from '../../util/real-path.ts';
import { readShebang } from './languages/executable.ts';

/** A second change within one tick of the file system's clock (at most 10 ms) does not change the timestamps. */
const CLOCK_TICK_MS = 20;

/**
 * Reads files and records their signatures, so that a later start needs only a few stats to see whether derived values
 * are still valid.
 */
export class WatchedFiles {
  readonly #signatures: Record<string, string> = {};
  readonly #lists = new Map<string, Dirent[]>();
  readonly #startedAtMs = Date.now();
  #newestMs = 0;

  /** The type of a path, without following a symlink. */
  lstat(path: string): Stats | undefined {
    this.#remember(path);
    return lstatOf(path);
  }

  /** The target of a path; undefined when it does not exist. */
  realPath(path: string, cwd: string): RealPath | undefined {
    this.#remember(path);
    try {
      const real = realPathOf(path, cwd);
      this.#remember(real.path);
      return real;
    } catch {
      return undefined;
    }
  }

  /** The entries of a folder by name; undefined when the folder does not exist. */
  list(path: string): Dirent[] | undefined {
    const known = this.#lists.get(path);
    if (known !== undefined) return known;
    this.#remember(path);
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
    this.#remember(path);
    try {
      return readShebang(path);
    } catch {
      return null;
    }
  }

  /** Whether a file has the mode bit x. */
  isExecutable(path: string): boolean {
    this.#remember(path);
    try {
      const stats = statSync(path);
      return stats.isFile() && (stats.mode & 0o111) !== 0;
    } catch {
      return false;
    }
  }

  /** The recorded signatures, or null when a change is so recent that its timestamp may hide another change. */
  signatures(): Record<string, string> | null {
    return this.#newestMs >= this.#startedAtMs - CLOCK_TICK_MS ? null : this.#signatures;
  }

  #remember(path: string): void {
    if (Object.hasOwn(this.#signatures, path)) return;
    this.#signatures[path] = signatureOf(path);
    this.#newestMs = Math.max(this.#newestMs, lstatOf(path)?.ctimeMs ?? 0);
  }
}

/** The signature of a path. It differs after any change of the file or of the folder's names. */
export function signatureOf(path: string): string {
  try {
    const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? '' : `${stats.ctimeNs} ${stats.size} ${stats.ino}`;
  } catch (error) {
    return errorCode(error) ?? 'unknown';
  }
}

function lstatOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
