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
const LARGE_BYTES = 1_000_000_000;
/** The unit of `st_blocks`, on every file system. */
const BLOCK_BYTES = 512;

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
};

/**
 * Measures an artifact of a tool. It opens the object first and checks it afterwards, so that the tool cannot replace it in between.
 * Refuses symbolic links, FIFOs, devices, and files outside `roots`.
 */
export function measureArtifact(path: string, roots: readonly string[]): MeasuredArtifact {
  const fd = openChecked(path, roots);
  try {
    const stat = fstatSync(fd);
    if (stat.isFile()) {
      if (stat.nlink > 1) throw refused(path, 'it is a hard link to another file');
      if (isMostlyHoles(stat))
        throw refused(path, `it is a sparse file: ${stat.size} bytes long, almost all of them holes`);
      return { path, kind: 'file', size: stat.size, sha256: hashOf(fd), media_type: mediaTypeOf(path) };
    }
    if (stat.isDirectory()) return measureFolder(path, roots);
    throw refused(path, 'it is neither a file nor a folder');
  } finally {
    closeSync(fd);
  }
}

/** Whether a file is sparse: it passes every limit on written bytes, and reading it may take minutes or never end. */
function isMostlyHoles({ size, blocks }: Stats): boolean {
  return size > LARGE_BYTES && blocks * BLOCK_BYTES < size / 100;
}

/** Measures a folder. Its hash is that of the sorted lines `<sha256>  <relative path>` of its files, as `sha256sum` prints them. */
function measureFolder(path: string, roots: readonly string[]): MeasuredArtifact {
  const names = filesUnder(path, '');
  const lines = createHash('sha256');
  let size = 0;
  for (const name of names) {
    const file = measureArtifact(join(path, name), roots);
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

function filesUnder(root: string, prefix: string): string[] {
  const found: string[] = [];
  for (const entry of readdirSync(join(root, prefix), { withFileTypes: true })) {
    const name = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
    if (entry.isDirectory()) found.push(...filesUnder(root, name));
    else found.push(name);
    if (found.length > MAX_FILES) throw refused(root, `it contains more than ${MAX_FILES} files`);
  }
  return found.sort();
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

function hashOf(fd: number): string {
  const hash = createHash('sha256');
  const chunk = Buffer.alloc(1 << 18);
  for (;;) {
    const count = readSync(fd, chunk, 0, chunk.length, null);
    if (count === 0) return hash.digest('hex');
    hash.update(chunk.subarray(0, count));
  }
}

function mediaTypeOf(path: string): string {
  return MEDIA_TYPES[extname(path).toLowerCase()] ?? 'application/octet-stream';
}

function refused(path: string, why: string): AcorError {
  return new AcorError('E_PERMISSION', `the artifact ${path} is refused: ${why}`, {
    hint: 'Write plain files into the workspace, ARTIFACTS_DIR or a granted path.',
  });
}
