import { closeSync, fstatSync, readSync, type Stats } from 'node:fs';
import { AcorError } from '../../protocol/acor-error.ts';
import { VERIFY } from '../../protocol/next-steps.ts';
import { errorCode, errorMessage } from '../../util/error-code.ts';
import { openOwn } from '../../util/regular-file.ts';
import { newSha256 } from '../../util/sha256.ts';

/**
 * A pack holds the files of many ended runs:
 *
 *     header   HEADER
 *     content  the deflated frames of each file, the files of a run one after the other
 *     table    a line of JSON for each run (`PackedRun`), sorted by run id
 *     footer   offset and size of the table (two unsigned 64-bit numbers, big endian), its SHA-256, HEADER again
 *
 * A reader of one window of a log inflates only the frames of that window.
 */
export const HEADER: Buffer = Buffer.from('ACOR pack 1\n');
/** Each frame but the last one of a file inflates to this many bytes. */
export const FRAME_BYTES = 65_536;

const NUMBER_BYTES = 8;
const HASH_BYTES = 32;
const FOOTER_BYTES = 2 * NUMBER_BYTES + HASH_BYTES + HEADER.length;
const LINE_START = '{"run_id":"';
const LF = 10;

/** A run in a pack. Its content begins at the offset `at` of the pack and is `bytes` long. */
export interface PackedRun {
  run_id: string;
  /** The runs that the run is a step of, directly or not. */
  ancestors: string[];
  at: number;
  bytes: number;
  /** The folders inside the run's folder, each after the one that contains it. */
  folders: { path: string; mode: number }[];
  files: PackedFileEntry[];
}

/** A file of a run in a pack; `path` is relative to the run's folder. */
export interface PackedFileEntry {
  path: string;
  mode: number;
  mtime_ms: number;
  size: number;
  sha256: string;
  /** The sizes of its frames as they are stored. */
  frames: number[];
}

/** The table of one pack, in memory. Finding a run parses the line of that run only. */
export class PackTable {
  readonly path: string;
  /** Differs as soon as another file has this path. */
  readonly identity: string;
  readonly sha256: string;
  readonly #lines: Buffer;

  /** Reads the table of a pack. Throws E_INTEGRITY when the pack is damaged; undefined when it does not exist. */
  static read(path: string): PackTable | undefined {
    let fd: number;
    try {
      fd = openOwn(path);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw damagedPack(path, `it cannot be read: ${errorMessage(error)}`);
    }
    try {
      return new PackTable(path, fd);
    } finally {
      closeSync(fd);
    }
  }

  private constructor(path: string, fd: number) {
    const stat = fstatSync(fd);
    const footer = readAt(fd, stat.size - FOOTER_BYTES, FOOTER_BYTES);
    if (footer === undefined || !footer.subarray(-HEADER.length).equals(HEADER))
      throw damagedPack(path, 'it does not end with the footer of a pack');
    const from = Number(footer.readBigUInt64BE(0));
    const size = Number(footer.readBigUInt64BE(NUMBER_BYTES));
    const lines = from + size + FOOTER_BYTES === stat.size ? readAt(fd, from, size) : undefined;
    const sha256 = footer.toString('hex', 2 * NUMBER_BYTES, 2 * NUMBER_BYTES + HASH_BYTES);
    if (lines === undefined || newSha256().update(lines).digest('hex') !== sha256)
      throw damagedPack(path, 'its table does not have the SHA-256 that the footer names');
    this.path = path;
    this.identity = identityOf(stat);
    this.sha256 = sha256;
    this.#lines = lines;
  }

  find(runId: string): PackedRun | undefined {
    let [low, high] = [0, this.#lines.length];
    while (low < high) {
      const middle = Math.floor((low + high) / 2);
      const start = middle === 0 ? 0 : this.#lines.lastIndexOf(LF, middle - 1) + 1;
      const end = this.#lines.indexOf(LF, start);
      const found = this.#idAt(start);
      if (found === runId) return JSON.parse(this.#lines.toString('utf8', start, end));
      if (found < runId) low = end + 1;
      else high = start;
    }
    return undefined;
  }

  /** The ids of its runs, sorted. */
  ids(): string[] {
    const ids: string[] = [];
    for (let start = 0; start < this.#lines.length; start = this.#lines.indexOf(LF, start) + 1)
      ids.push(this.#idAt(start));
    return ids;
  }

  /** The runs that are steps of a run, directly or not. */
  stepsOf(runId: string): string[] {
    const found = new Set<string>();
    // Only lines that name the run are parsed.
    for (
      let at = this.#lines.indexOf(`"${runId}"`);
      at !== -1;
      at = this.#lines.indexOf(`"${runId}"`, at + 1)
    )
      found.add(this.#idAt(this.#lines.lastIndexOf(LF, at) + 1));
    return [...found].filter((id) => this.find(id)?.ancestors.includes(runId));
  }

  #idAt(start: number): string {
    const from = start + LINE_START.length;
    return this.#lines.toString('latin1', from, this.#lines.indexOf('"', from));
  }
}

/** The end of a pack whose content ends at this offset: the table and the footer. */
export function tableAndFooter(runs: readonly PackedRun[], offset: number): Buffer {
  const sorted = [...runs].sort((a, b) => (a.run_id < b.run_id ? -1 : 1));
  // The reader finds the id by its place in the line.
  const line = ({ run_id, ...rest }: PackedRun) => `${JSON.stringify({ run_id, ...rest })}\n`;
  const table = Buffer.from(sorted.map(line).join(''));
  const numbers = Buffer.alloc(2 * NUMBER_BYTES);
  numbers.writeBigUInt64BE(BigInt(offset), 0);
  numbers.writeBigUInt64BE(BigInt(table.length), NUMBER_BYTES);
  return Buffer.concat([table, numbers, newSha256().update(table).digest(), HEADER]);
}

/** E_INTEGRITY for a pack, or for one run in it, that was damaged or changed. Everything else in the store stays readable. */
export function damagedPack(path: string, why: string, runId?: string): AcorError {
  const what = runId === undefined ? `the pack ${path}` : `run ${runId} in the pack ${path}`;
  return new AcorError('E_INTEGRITY', `${what} is damaged: ${why}`, {
    hint: 'Restore the file from a backup. ACOR deletes nothing of it, and all other runs stay readable.',
    details: { ...(runId !== undefined && { run: runId }), pack: path },
    next: [VERIFY],
  });
}

/** Two files with one path and one identity are the same file, unchanged. */
export function identityOf({ dev, ino, size, mtimeMs }: Stats): string {
  return [dev, ino, size, mtimeMs].join(' ');
}

function readAt(fd: number, from: number, size: number): Buffer | undefined {
  if (from < 0 || size < 0) return undefined;
  const bytes = Buffer.allocUnsafe(size);
  return readSync(fd, bytes, 0, size, from) === size ? bytes : undefined;
}
