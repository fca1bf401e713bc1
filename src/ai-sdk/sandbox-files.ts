import { constants, realpathSync } from 'node:fs';
import { type FileHandle, open, readdir, unlink } from 'node:fs/promises';
import { basename, dirname, relative, resolve } from 'node:path';
import type {
  Experimental_SandboxDirectoryEntry as DirectoryEntry,
  Experimental_SandboxFileStat as FileStat,
  Experimental_SandboxSession as SandboxSession,
} from 'ai';
import { errorCode } from '../util/error-code.ts';
import { OpenFolder } from '../util/open-folder.ts';
import { isInside, realPathOf } from '../util/real-path.ts';

const { O_RDONLY, O_WRONLY, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;

/**
 * The files of a sandbox, for its owner, who is not inside. Commands may have made links in it: what a path leads to must be in the folder,
 * and is then opened without following a link, which may have appeared since.
 */
export class SandboxFiles {
  readonly #root: string;

  constructor(root: string) {
    this.#root = realpathSync(root);
  }

  readonly methods: Pick<
    SandboxSession,
    | 'readFile'
    | 'readBinaryFile'
    | 'readTextFile'
    | 'writeFile'
    | 'writeBinaryFile'
    | 'writeTextFile'
    | 'stat'
    | 'listDirectory'
    | 'deleteFile'
  > = {
    readFile: async ({ path }) => {
      const bytes = await this.#read(path);
      return bytes === null ? null : new Blob([bytes]).stream();
    },
    readBinaryFile: ({ path }) => this.#read(path),
    readTextFile: async ({ path, encoding = 'utf-8', startLine = 1, endLine }) => {
      const bytes = await this.#read(path);
      if (bytes === null) return null;
      const text = new TextDecoder(encoding as 'utf-8').decode(bytes);
      if (startLine === 1 && endLine === undefined) return text;
      return text
        .split('\n')
        .slice(startLine - 1, endLine)
        .join('\n');
    },
    writeFile: async ({ content, ...to }) =>
      this.#write(to, new Uint8Array(await new Response(content).arrayBuffer())),
    writeBinaryFile: ({ content, ...to }) => this.#write(to, content),
    writeTextFile: ({ content, encoding = 'utf-8', ...to }) =>
      this.#write(to, Buffer.from(content, encoding as BufferEncoding)),
    stat: async ({ path }) => {
      const real = this.#inside(path);
      using folder = this.#openFolder(dirname(real));
      const found = folder?.statsOf(basename(real));
      return found ? { type: typeOf(found) as FileStat['type'], size: found.size } : null;
    },
    listDirectory: async ({ path }) => {
      using folder = this.#openFolder(this.#inside(path));
      if (folder === null) return null;
      const entries = await readdir(folder.self, { withFileTypes: true });
      return entries.map((each) => ({ name: each.name, type: typeOf(each) as DirectoryEntry['type'] }));
    },
    deleteFile: async ({ path, abortSignal }) => {
      abortSignal?.throwIfAborted();
      using folder = this.#openFolder(this.#inside(dirname(path)));
      const name = path.split('/').at(-1) ?? '';
      const found = folder?.statsOf(name);
      if (!folder || !found) return false;
      if (found.isDirectory()) throw new Error(`${path} is a directory`);
      await unlink(folder.at(name));
      return true;
    },
  };

  async #read(path: string): Promise<Uint8Array<ArrayBuffer> | null> {
    const file = await this.#open(path, O_RDONLY | O_NONBLOCK).catch(nullIfMissing);
    if (file === null) return null;
    try {
      return new Uint8Array(await file.readFile());
    } finally {
      await file.close();
    }
  }

  async #write({ path, abortSignal }: WriteTo, bytes: Uint8Array): Promise<void> {
    abortSignal?.throwIfAborted();
    const file = await this.#open(path, O_WRONLY | O_CREAT | O_NONBLOCK, { makes: true });
    try {
      await file.truncate();
      await file.writeFile(bytes);
    } finally {
      await file.close();
    }
  }

  /** With `makes` it creates the folders that are missing above the file. */
  async #open(path: string, flags: number, { makes = false } = {}): Promise<FileHandle> {
    const real = this.#inside(path);
    using folder = this.#below(dirname(real), { makes });
    const file = await open(folder.at(basename(real)), flags | O_NOFOLLOW, 0o644);
    if ((await file.stat()).isFile()) return file;
    await file.close();
    throw new Error(`${path} is not a file`);
  }

  /** Null for a folder that does not exist. */
  #openFolder(real: string): OpenFolder | null {
    try {
      return this.#below(real);
    } catch (error) {
      return nullIfMissing(error);
    }
  }

  /** The folder at a real path. Throws ENOTDIR when a part of it has become a link. */
  #below(real: string, options?: { makes: boolean }): OpenFolder {
    using root = OpenFolder.trusted(this.#root);
    return root.below(relative(this.#root, real), options);
  }

  /** What a path leads to. Throws when that is outside. */
  #inside(path: string): string {
    const real = realPathOf(resolve(this.#root, path), this.#root).path;
    if (isInside(real, this.#root)) return real;
    throw new Error(`${path} is outside of the sandbox`);
  }
}

interface WriteTo {
  path: string;
  abortSignal?: AbortSignal | undefined;
}

function typeOf(found: {
  isFile(): boolean;
  isDirectory(): boolean;
  isSymbolicLink(): boolean;
}): 'file' | 'directory' | 'symlink' | 'other' {
  if (found.isFile()) return 'file';
  if (found.isDirectory()) return 'directory';
  return found.isSymbolicLink() ? 'symlink' : 'other';
}

function nullIfMissing(error: unknown): null {
  if (errorCode(error) === 'ENOENT') return null;
  throw error;
}
