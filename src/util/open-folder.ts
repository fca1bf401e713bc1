import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  type Stats,
} from 'node:fs';
import { dirname, sep } from 'node:path';
import { errorCode } from './error-code.ts';
import { notRegular } from './regular-file.ts';

/** The name of one entry. A name need not be UTF-8. */
export type EntryName = string | Buffer;

/** Linux's O_PATH: the descriptor only names the object, so opening a pipe or device has no effect. Node has no constant for it. */
const O_PATH = 0o10000000;
const HAS_DESCRIPTOR_PATHS = process.platform === 'linux';

/** An open file, and a path that leads to it and nothing else. */
export interface OpenFile {
  fd: number;
  path: string;
}

/**
 * A folder that is held by a descriptor. Another process may rename it or put a link in its place: every path of an entry that it returns
 * still leads into the folder that was opened. This is the only way to reach what a tool may write.
 *
 * Where the system has no paths through descriptors, it holds the path, and checks that no part of it is a link.
 */
export class OpenFolder implements Disposable {
  /** The path under which it was opened, for messages. */
  readonly path: string;
  readonly #fd: number | undefined;

  private constructor(path: string, fd: number | undefined) {
    this.path = path;
    this.#fd = fd;
  }

  /** Opens a folder that only ACOR and its user can replace; links are followed. */
  static trusted(path: string): OpenFolder {
    return OpenFolder.#open(path, path, 0);
  }

  /**
   * Opens an absolute path part by part, and with `makes` creates the folders that are missing. Throws ENOTDIR when a part is a link or no
   * folder.
   */
  static real(path: string, { makes = false } = {}): OpenFolder {
    return OpenFolder.#descend(OpenFolder.trusted(sep), path, makes);
  }

  /** Closes the first folder and each one on the way. */
  static #descend(first: OpenFolder, path: string, makes: boolean): OpenFolder {
    let folder = first;
    for (const part of path.split(sep)) {
      if (part === '' || part === '.') continue;
      using above = folder;
      folder = makes ? above.#childOrNew(part) : above.child(part);
    }
    return folder;
  }

  static #open(at: string | Buffer, path: string, flags: number): OpenFolder {
    if (HAS_DESCRIPTOR_PATHS)
      return new OpenFolder(path, openSync(at, O_PATH | constants.O_DIRECTORY | flags));
    if (flags !== 0 && !lstatSync(at).isDirectory()) throw failure('ENOTDIR', `${path} is no folder`);
    return new OpenFolder(path, undefined);
  }

  /** Opens a folder in this one. Throws ENOTDIR when it is a link or no folder. */
  child(name: EntryName): OpenFolder {
    return OpenFolder.#open(this.at(name), childPath(this.path, name), constants.O_NOFOLLOW);
  }

  /** Opens the folder at a relative path in this one like `real`; without a part it opens this folder again. */
  below(path: string, { makes = false } = {}): OpenFolder {
    return OpenFolder.#descend(OpenFolder.#open(this.self, this.path, 0), path, makes);
  }

  #childOrNew(name: string): OpenFolder {
    try {
      return this.child(name);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error;
      return this.makeChild(name);
    }
  }

  /** Opens a folder in this one, and creates it if it does not exist. */
  makeChild(name: EntryName, mode = 0o777): OpenFolder {
    try {
      mkdirSync(this.at(name), mode);
    } catch (error) {
      if (errorCode(error) !== 'EEXIST') throw error;
    }
    return this.child(name);
  }

  /** Opens the folder above. After a rename it is another one than before. */
  above(): OpenFolder {
    return OpenFolder.#open(this.at('..'), dirname(this.path), 0);
  }

  /** The path of an entry, for a call that does not follow a link in its last part. */
  at(name: EntryName): string | Buffer {
    if (typeof name === 'string') return `${this.self}/${name}`;
    return Buffer.concat([Buffer.from(`${this.self}/`), name]);
  }

  /** The path of the folder itself. */
  get self(): string {
    return this.#fd === undefined ? this.path : descriptorPath(this.#fd);
  }

  /** The names of its entries. */
  names(): Buffer[] {
    return readdirSync(this.self, { encoding: 'buffer' });
  }

  stats(): Stats {
    return this.#fd === undefined ? lstatSync(this.path) : fstatSync(this.#fd);
  }

  /** The stats of an entry, links not followed; undefined if it does not exist. */
  statsOf(name: EntryName): Stats | undefined {
    return lstatSync(this.at(name), { throwIfNoEntry: false });
  }

  /**
   * Holds an entry, whatever it is, while `work` uses its path: that path leads to this very object, and to no other that takes its
   * place. Undefined when there is no entry. Of a link only the owner can be changed like this.
   */
  hold<T>(name: EntryName, work: (path: string, stats: Stats) => T): T | undefined {
    if (!HAS_DESCRIPTOR_PATHS) {
      const stats = this.statsOf(name);
      return stats === undefined ? undefined : work(String(this.at(name)), stats);
    }
    let fd: number;
    try {
      fd = openSync(this.at(name), O_PATH | constants.O_NOFOLLOW);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
    try {
      return work(descriptorPath(fd), fstatSync(fd));
    } finally {
      closeSync(fd);
    }
  }

  /** Opens a regular file for reading. Throws `NOT_REGULAR` for a link, pipe, device or folder, without opening it. */
  openFile(name: EntryName): number {
    const fd = this.hold(name, (path, stats) => {
      if (!stats.isFile()) throw notRegular(childPath(this.path, name));
      return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    });
    if (fd === undefined) throw failure('ENOENT', `${childPath(this.path, name)} does not exist`);
    return fd;
  }

  /** Creates a regular file, open for reading and writing; only its owner may use it. Throws EEXIST. */
  createFile(name: EntryName): OpenFile {
    const path = this.at(name);
    const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600);
    return { fd, path: HAS_DESCRIPTOR_PATHS ? descriptorPath(fd) : String(path) };
  }

  [Symbol.dispose](): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
  }
}

/** The path of an entry, as a text for messages. */
export function childPath(folder: string, name: EntryName): string {
  return `${folder === sep ? '' : folder}${sep}${String(name)}`;
}

function descriptorPath(fd: number): string {
  return `/proc/self/fd/${fd}`;
}

function failure(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
