import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  readSync,
  type Stats,
} from 'node:fs';
import { extname, join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { AcorError } from '../../protocol/acor-error.ts';
import { errorCode } from '../../util/error-code.ts';

/** A file or folder as the runner measured it. `size` is in bytes; for a folder, the sum of its files. */
export interface MeasuredArtifact {
  path: string;
  kind: 'file' | 'directory';
  size: number;
  sha256: string;
  media_type: string;
  /** The number of files in a folder. */
  files?: number;
}

const MAX_FILES = 10_000;
const CHUNK_BYTES = 1 << 18;
/** So much is hashed in about 5 ms. */
const PIECE_BYTES = 1 << 22;
const LARGE_BYTES = 1_000_000_000;
/** The unit of `st_blocks`, on every file system. */
const BLOCK_BYTES = 512;

/** Source files and settings: text without a media type of its own. */
const SOURCE_FILES =
  '.bash .c .cc .cjs .conf .cpp .cs .css .diff .go .graphql .h .hpp .ini .java .js .jsx .kt .lock .lua .mjs .patch .php .pl .proto .py .r .rb .rs .rst .scala .scss .sh .sql .svelte .swift .tex .toml .ts .tsv .tsx .vue .zsh'.split(
    ' ',
  );

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.gif': 'image/gif',
  '.gz': 'application/gzip',
  '.html': 'text/html',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.json': 'application/json',
  '.jsonl': 'application/jsonl',
  '.log': 'text/plain',
  '.md': 'text/markdown',
  '.mp3': 'audio/mpeg',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain',
  '.wav': 'audio/wav',
  '.webp': 'image/webp',
  '.xml': 'application/xml',
  '.yaml': 'application/yaml',
  '.yml': 'application/yaml',
  '.zip': 'application/zip',
  ...Object.fromEntries(SOURCE_FILES.map((extension) => [extension, 'text/plain'])),
};

/**
 * Measures the artifacts of one attempt. All together have at most `MAX_FILES` files, and are not almost only holes: a sparse file passes
 * every limit on written bytes, and a tool may make thousands of them. A path is measured once. Hashing goes in pieces; after each one
 * timers get their turn, and `check` may throw, for example because the deadline has passed.
 */
export class ArtifactMeter {
  readonly #roots: readonly string[];
  readonly #check: () => void;
  readonly #measured = new Map<string, MeasuredArtifact>();
  readonly #totals: Totals = { files: 0, bytes: 0, storedBytes: 0 };

  constructor(roots: readonly string[], check: () => void) {
    this.#roots = roots;
    this.#check = check;
  }

  async measure(path: string): Promise<MeasuredArtifact> {
    const known = this.#measured.get(path);
    if (known !== undefined) return known;
    const steps = measuring(path, this.#roots, this.#totals);
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done) {
        this.#measured.set(path, step.value);
        return step.value;
      }
      await nextTurn();
      try {
        this.#check();
      } catch (error) {
        steps.throw(error);
      }
    }
  }
}

/** Measures one artifact without a pause. */
export function measureArtifact(path: string, roots: readonly string[]): MeasuredArtifact {
  const steps = measuring(path, roots, { files: 0, bytes: 0, storedBytes: 0 });
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

/** The names of the files below a folder, relative to it and sorted. Throws E_PERMISSION when there are more than `MAX_FILES`. */
export function filesUnder(root: string): string[] {
  const found: string[] = [];
  for (const folders = ['']; folders.length > 0; ) {
    const prefix = folders.pop()!;
    for (const entry of readdirSync(join(root, prefix), { withFileTypes: true })) {
      const name = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
      if (entry.isDirectory()) folders.push(name);
      else if (found.push(name) > MAX_FILES) throw tooMany(root);
    }
  }
  return found.sort();
}

/** What was measured so far: files, their length, and the bytes that are stored of them. */
interface Totals {
  files: number;
  bytes: number;
  storedBytes: number;
}

type Measuring<T> = Generator<void, T, void>;

/**
 * Measures an artifact of a tool, and yields after each piece. It opens the object first and checks it afterwards, so that the tool cannot
 * replace it in between. Refuses symbolic links, FIFOs, devices, and files outside `roots`.
 */
function* measuring(path: string, roots: readonly string[], totals: Totals): Measuring<MeasuredArtifact> {
  const fd = openChecked(path, roots);
  try {
    const stat = fstatSync(fd);
    if (stat.isFile()) {
      if (stat.nlink > 1) throw refused(path, 'it is a hard link to another file');
      count(path, stat, totals);
      const sha256 = yield* hashing(fd);
      return { path, kind: 'file', size: stat.size, sha256, media_type: mediaTypeOf(path) };
    }
    if (stat.isDirectory()) return yield* measuringFolder(path, roots, totals);
    throw refused(path, 'it is neither a file nor a folder');
  } finally {
    closeSync(fd);
  }
}

function count(path: string, { size, blocks }: Stats, totals: Totals): void {
  totals.files++;
  totals.bytes += size;
  totals.storedBytes += blocks * BLOCK_BYTES;
  if (totals.files > MAX_FILES) throw tooMany(path);
  if (totals.bytes > LARGE_BYTES && totals.storedBytes < totals.bytes / 100)
    throw refused(path, `with it, the artifacts are ${totals.bytes} bytes long, almost all of them holes`);
}

/** Measures a folder. Its hash is that of the sorted lines `<sha256>  <relative path>` of its files, as `sha256sum` prints them. */
function* measuringFolder(
  path: string,
  roots: readonly string[],
  totals: Totals,
): Measuring<MeasuredArtifact> {
  const names = filesUnder(path);
  const lines = createHash('sha256');
  let size = 0;
  for (const name of names) {
    const file = yield* measuring(join(path, name), roots, totals);
    size += file.size;
    lines.update(`${file.sha256}  ${name}\n`);
  }
  return {
    path,
    kind: 'directory',
    size,
    sha256: lines.digest('hex'),
    media_type: 'inode/directory',
    files: names.length,
  };
}

function openChecked(path: string, roots: readonly string[]): number {
  let fd: number;
  try {
    // Without O_NONBLOCK, opening a FIFO would block the runner for ever.
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    switch (errorCode(error)) {
      case 'ELOOP':
        throw refused(path, 'it is a symbolic link');
      case 'ENOENT':
      case 'ENOTDIR':
        throw new AcorError('E_PROTOCOL', `the tool reported an artifact that does not exist: ${path}`, {
          hint: 'Report the path of the file that the tool wrote, relative to its workspace.',
        });
      default:
        throw refused(path, `it cannot be opened (${errorCode(error) ?? 'unknown reason'})`);
    }
  }
  const real = realPathOf(fd) ?? path;
  if (!roots.some((root) => real === root || real.startsWith(`${root}/`))) {
    closeSync(fd);
    throw refused(path, 'it is outside the workspace and the granted paths');
  }
  return fd;
}

/** The real path of an open descriptor; undefined where /proc is not available. */
function realPathOf(fd: number): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return undefined;
  }
}

function* hashing(fd: number): Measuring<string> {
  const hash = createHash('sha256');
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let bytes = 0; ; ) {
    const count = readSync(fd, chunk, 0, chunk.length, null);
    if (count === 0) return hash.digest('hex');
    hash.update(chunk.subarray(0, count));
    bytes += count;
    if (bytes % PIECE_BYTES === 0) yield;
  }
}

function mediaTypeOf(path: string): string {
  return MEDIA_TYPES[extname(path).toLowerCase()] ?? 'application/octet-stream';
}

function tooMany(path: string): AcorError {
  return refused(path, `it contains more than ${MAX_FILES} files`);
}

function refused(path: string, why: string): AcorError {
  return new AcorError('E_PERMISSION', `the artifact ${path} is refused: ${why}`, {
    hint: 'Write plain files into the workspace, ARTIFACTS_DIR or a granted path.',
  });
}
