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
  #isIncomplete = false;
  readonly #lists = new Map<string, Dirent[]>();

  /** The type of a path, without following a symlink. */
  lstat(path: string): Stats | undefined {
    this.#signatures.take(path);
    try {
      return lstatSync(path, { throwIfNoEntry: false });
    } catch (error) {
      this.#note(error);
      return undefined;
    }
  }

  /** The target of a path; undefined when it does not exist. */
  realPath(path: string, cwd: string): RealPath | undefined {
    this.#signatures.take(path);
    try {
      const real = realPathOf(path, cwd);
      this.#signatures.take(real.path);
      return real;
    } catch (error) {
      this.#note(error);
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
    } catch (error) {
      this.#note(error);
      return null;
    }
  }

  /** Whether a file has the mode bit x. */
  isExecutable(path: string): boolean {
    this.#signatures.take(path);
    try {
      const stats = statSync(path);
      return stats.isFile() && (stats.mode & 0o111) !== 0;
    } catch (error) {
      this.#note(error);
      return false;
    }
  }

  /** Something could not be read, and may be at the next start, without a change of it: what is derived is not kept. */
  leaveOpen(): void {
    this.#isIncomplete = true;
  }

  #note(error: unknown): void {
    if (isPassing(error)) this.leaveOpen();
  }

  /** The recorded signatures, or null when a change is so recent that its timestamp may hide another change, or when something was left open. */
  signatures(): Record<string, Signature> | null {
    return this.#isIncomplete ? null : this.#signatures.all();
  }
}

/** Of the process or the machine, and not of a file. */
const PASSING = new Set([
  'EMFILE',
  'ENFILE',
  'ENOMEM',
  'EIO',
  'EAGAIN',
  'EINTR',
  'EBUSY',
  'ESTALE',
  'ETIMEDOUT',
]);

/** Whether an error may be gone the next time, without a change of the file. */
export function isPassing(error: unknown): boolean {
  return PASSING.has(errorCode(error) ?? '');
}
