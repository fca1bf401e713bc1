import { isUtf8 } from 'node:buffer';
import { closeSync, fstatSync, readSync, realpathSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { errorCode, errorMessage } from '../../util/error-code.ts';
import { mediaTypeOf } from '../../util/media-type.ts';
import { type EntryName, OpenFolder } from '../../util/open-folder.ts';
import { nextTurn } from '../../util/pause.ts';
import { NOT_REGULAR } from '../../util/regular-file.ts';
import { newSha256 } from '../../util/sha256.ts';
import { walkTree } from '../../util/walk-tree.ts';

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
/** The system's limit on the path of a call. */
const MAX_PATH_BYTES = 4000;
const CHUNK_BYTES = 1 << 18;
/** So much is hashed in about 5 ms. */
const PIECE_BYTES = 1 << 22;
const LARGE_BYTES = 1_000_000_000;
/** The unit of `st_blocks`, on every file system. */
const BLOCK_BYTES = 512;

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

/**
 * The names of the files below a folder, relative to it and sorted. Throws E_PERMISSION when there are more than `MAX_FILES`, and for what
 * cannot be an artifact: a name that is no UTF-8, a folder that cannot be read, a path that no program can open.
 */
export function filesUnder(root: string): string[] {
  using folder = openFolder(root);
  return namesUnder(folder, root);
}

function namesUnder(folder: OpenFolder, root: string): string[] {
  const found: string[] = [];
  const onError = (error: unknown, path: string) => {
    throw refused(path, `it cannot be read (${errorCode(error) ?? errorMessage(error)})`);
  };
  for (const { kind, path, name } of walkTree(folder, { onError })) {
    if (kind === 'left') continue;
    if (!isUtf8(name)) throw refused(path, 'its name is not UTF-8');
    if (kind === 'folder') continue;
    if (Buffer.byteLength(path) > MAX_PATH_BYTES)
      throw refused(`${root}/…/${name}`, 'its path is longer than programs can open');
    if (found.push(path.slice(folder.path.length + 1)) > MAX_FILES) throw tooMany(root);
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
 * Measures an artifact of a tool, and yields after each piece. It opens the object without following a link, and checks what it has opened,
 * so that the tool cannot replace it in between. Refuses symbolic links, FIFOs, devices, and files outside `roots`.
 */
function* measuring(path: string, roots: readonly string[], totals: Totals): Measuring<MeasuredArtifact> {
  using above = openAbove(path, roots);
  const name = basename(path);
  const stats = statsIn(above, name, path);
  if (stats.isSymbolicLink()) throw refused(path, 'it is a symbolic link');
  if (stats.isFile()) return yield* measuringFile(above, name, path, totals);
  if (!stats.isDirectory()) throw refused(path, 'it is neither a file nor a folder');
  using folder = opening(path, () => above.child(name));
  return yield* measuringFolder(folder, path, totals);
}

function* measuringFile(
  folder: OpenFolder,
  name: EntryName,
  path: string,
  totals: Totals,
): Measuring<MeasuredArtifact> {
  const fd = opening(path, () => folder.openFile(name));
  try {
    const stat = fstatSync(fd);
    if (stat.nlink > 1) throw refused(path, 'it is a hard link to another file');
    count(path, stat, totals);
    const sha256 = yield* hashing(fd);
    return { path, kind: 'file', size: stat.size, sha256, media_type: mediaTypeOf(path) };
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
function* measuringFolder(folder: OpenFolder, path: string, totals: Totals): Measuring<MeasuredArtifact> {
  const names = namesUnder(folder, path);
  const lines = newSha256();
  let size = 0;
  for (const name of names) {
    const at = join(path, name);
    using above = opening(at, () => folder.below(dirname(name)));
    const stats = statsIn(above, basename(name), at);
    if (stats.isSymbolicLink()) throw refused(at, 'it is a symbolic link');
    if (!stats.isFile()) throw refused(at, 'it is neither a file nor a folder');
    const file = yield* measuringFile(above, basename(name), at, totals);
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

/** Opens the folder of an artifact. Links in the path are resolved first, and the result is opened without following any. */
function openAbove(path: string, roots: readonly string[]): OpenFolder {
  const folder = opening(path, () => realpathSync(dirname(path)));
  const real = join(folder, basename(path));
  if (!roots.some((root) => real === root || real.startsWith(`${root}/`)))
    throw refused(path, 'it is outside the workspace and the granted paths');
  return opening(path, () => OpenFolder.real(folder));
}

function openFolder(path: string): OpenFolder {
  return opening(path, () => {
    using above = OpenFolder.real(realpathSync(dirname(path)));
    return above.child(basename(path));
  });
}

function statsIn(folder: OpenFolder, name: string, path: string): Stats {
  const stats = opening(path, () => folder.statsOf(name));
  if (stats === undefined) throw missing(path);
  return stats;
}

function opening<T>(path: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    switch (errorCode(error)) {
      case 'ENOENT':
        throw missing(path);
      case 'ENOTDIR':
        throw refused(path, 'a part of its path is a link, or no folder');
      case NOT_REGULAR:
        throw refused(path, 'it is neither a file nor a folder');
      default:
        throw refused(path, `it cannot be opened (${errorCode(error) ?? errorMessage(error)})`);
    }
  }
}

function missing(path: string): AcorError {
  return new AcorError('E_PROTOCOL', `the tool reported an artifact that does not exist: ${path}`, {
    hint: 'Report the path of the file that the tool wrote, relative to its workspace.',
  });
}

function* hashing(fd: number): Measuring<string> {
  const hash = newSha256();
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let bytes = 0; ; ) {
    const count = readSync(fd, chunk, 0, chunk.length, null);
    if (count === 0) return hash.digest('hex');
    hash.update(chunk.subarray(0, count));
    bytes += count;
    if (bytes % PIECE_BYTES === 0) yield;
  }
}

function tooMany(path: string): AcorError {
  return refused(path, `it contains more than ${MAX_FILES} files`);
}

function refused(path: string, why: string): AcorError {
  return new AcorError('E_PERMISSION', `the artifact ${path} is refused: ${why}`, {
    hint: 'Write plain files into the workspace, ARTIFACTS_DIR or a granted path.',
  });
}
