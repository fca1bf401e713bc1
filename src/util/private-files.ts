import { lstatSync, mkdirSync, readdirSync, readFileSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { writeAtomic } from './atomic-write.ts';
import { errorCode } from './error-code.ts';

/**
 * JSON files of the user's own, in a folder with the mode 0700. A file that others could have written is ignored.
 */
export class PrivateFiles<T> {
  readonly folder: string;
  readonly #isValid: (found: T) => boolean;

  constructor(folder: string, isValid: (found: T) => boolean) {
    this.folder = folder;
    this.#isValid = isValid;
  }

  /** The content of a file that only this user can have written. */
  read(name: string): T | undefined {
    const path = join(this.folder, name);
    try {
      if (!isPrivate(this.folder) || !isPrivate(path)) return undefined;
      const found = JSON.parse(readFileSync(path, 'utf8')) as T;
      return this.#isValid(found) ? found : undefined;
    } catch {
      return undefined;
    }
  }

  /** The content of every such file whose name ends in `.json`: another one is still being written, or was left by a process that was killed. */
  list(): T[] {
    let names: string[];
    try {
      names = readdirSync(this.folder);
    } catch {
      return [];
    }
    return names.filter((name) => name.endsWith('.json')).flatMap((name) => this.read(name) ?? []);
  }

  /** Writes a file durably. Returns false when others can write to the folder. Throws the system's errors. */
  write(name: string, content: T): boolean {
    mkdirSync(this.folder, { recursive: true, mode: 0o700 });
    if (!isPrivate(this.folder)) return false;
    writeAtomic(join(this.folder, name), `${JSON.stringify(content)}\n`, { durable: true, mode: 0o600 });
    return true;
  }

  /** Removes a file. Returns whether there was one. */
  remove(name: string): boolean {
    const path = join(this.folder, name);
    try {
      unlinkSync(path);
      return true;
    } catch (error) {
      if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return false;
      throw error;
    }
  }
}

/** Whether a file or folder belongs to this user, is not a link, and is not writable for others. */
function isPrivate(path: string): boolean {
  const stats = lstatSync(path);
  const isOwn = process.getuid === undefined || stats.uid === process.getuid();
  return isOwn && !stats.isSymbolicLink() && (stats.mode & 0o022) === 0;
}
