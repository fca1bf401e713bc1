import { readlinkSync, realpathSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, relative } from 'node:path';
import { errorCode } from './error-code.ts';
import { type EntryName, OpenFolder } from './open-folder.ts';
import { newSha256, sha256Of, sha256OfOpened } from './sha256.ts';
import { walkTree } from './walk-tree.ts';

/** How much is read. What is beyond that counts by its size and time. */
interface Bound {
  bytes: number;
  files: number;
}

/** One file or folder, as it is now. */
export interface ContentDigest {
  sha256: string;
  /** By name, for a folder; the folder's own digest is over all of them. */
  files: { name: string; sha256: string }[];
}

/** Digests files and folders by their content, up to a bound that all of them share. */
export class ContentDigests {
  /** The paths of which a part was too large to be read: for that part, size and time count. */
  readonly comparedBySize: string[] = [];
  /** The folders to which links lead, by their real paths. They are not entered. */
  readonly linkedFolders = new Set<string>();
  readonly #left: Bound;
  readonly #skip: (path: string) => boolean;

  constructor(bound: Bound, skip: (path: string) => boolean = () => false) {
    this.#left = { ...bound };
    this.#skip = skip;
  }

  /**
   * Of a real path; with `isFlat`, without what is in the folders of a folder. Undefined when nothing is there. Links in a folder count by
   * their text and by the file that they lead to. What this user may not read counts by its size and time.
   */
  of(path: string, { isFlat = false } = {}): ContentDigest | undefined {
    using above = openIfThere(dirname(path));
    const name = basename(path);
    const stats = above?.statsOf(name);
    if (above === undefined || stats === undefined) return undefined;
    if (!stats.isDirectory()) return { sha256: this.#entry(above, name, path, stats, path), files: [] };
    using folder = above.child(name);
    const files: ContentDigest['files'] = [];
    const walk = walkTree(folder, {
      enters: (each) => !isFlat && !this.#skip(each.path),
      onError: (error, at) => {
        if (!isForbidden(error)) throw error;
        files.push({ name: relative(path, at), sha256: digest('unreadable') });
      },
    });
    for (const step of walk) {
      if (step.kind === 'left' || this.#skip(step.path)) continue;
      const inside = relative(path, step.path);
      const sha256 =
        step.kind === 'folder' ? 'folder' : this.#entry(step.folder, step.name, step.path, step.stats, path);
      files.push({ name: inside, sha256 });
    }
    files.sort((a, b) => (a.name < b.name ? -1 : 1));
    return {
      sha256: digest(JSON.stringify(files)),
      files: files.filter(({ sha256 }) => sha256 !== 'folder'),
    };
  }

  #entry(folder: OpenFolder, name: EntryName, path: string, stats: Stats, of: string): string {
    const kind = `${stats.mode & 0o111 ? 'x' : '-'}`;
    if (stats.isSymbolicLink())
      return digest(`link ${readlinkSync(folder.at(name))} ${this.#targetOf(path)}`);
    if (!stats.isFile()) return 'neither file nor folder';
    this.#left.files--;
    this.#left.bytes -= stats.size;
    if (this.#left.files < 0 || this.#left.bytes < 0) {
      if (!this.comparedBySize.includes(of)) this.comparedBySize.push(of);
      return digest(`size ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`);
    }
    try {
      return digest(`${kind} ${sha256OfOpened(folder.openFile(name))}`);
    } catch (error) {
      if (!isForbidden(error)) throw error;
      return digest(`unreadable ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}`);
    }
  }

  /** The content of the file to which a link leads, as an interpreter in a virtual environment. */
  #targetOf(link: string): string {
    try {
      const target = realpathSync(link);
      const stats = statSync(target);
      if (stats.isDirectory()) this.linkedFolders.add(target);
      return stats.isFile() ? sha256Of(target) : 'no file';
    } catch {
      return 'no file';
    }
  }
}

function isForbidden(error: unknown): boolean {
  return ['EACCES', 'EPERM'].includes(errorCode(error) ?? '');
}

function openIfThere(path: string): OpenFolder | undefined {
  try {
    return OpenFolder.trusted(realpathSync(path));
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

function digest(text: string): string {
  return newSha256().update(text).digest('hex');
}
