import {
  accessSync,
  closeSync,
  constants,
  fchmodSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  renameSync,
  statSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { syncFolder, writeFully } from '../../util/atomic-write.ts';
import { errorCode } from '../../util/error-code.ts';
import { withFileLock } from '../../util/file-lock.ts';
import { timeOfRunId } from '../../util/ids.ts';
import { appendOwn, openOwn } from '../../util/regular-file.ts';
import {
  beginOf,
  type FileLine,
  hashAtEndOf,
  lastLine,
  linesOf,
  linesOfOpen,
  type SealedFile,
  sealedFiles,
  sealedName,
} from './ledger-files.ts';
import { GENESIS, type LedgerEntry, ledgerLine, sha256 } from './ledger-line.ts';
import { storageError } from './storage-error.ts';

/** A segment of this size is sealed: about 650 runs, checked in a few milliseconds. */
const SEGMENT_BYTES = 262_144;
const READ_ROUNDS = 10;
/** A clock that was set back by more than this may hide an entry, so that the end of the run is entered a second time. */
const CLOCK_SLACK_MS = 3_600_000;

/**
 * The ledger of a store: one line for each end of a run, each with the hash of the line before it, so that no run is changed or lost
 * unnoticed. `.runs/ledger.jsonl` is the open segment; full ones are sealed as `.runs/ledger/00000001.jsonl` and so on. The first line of
 * a segment has the hash of the last line of the segment before it.
 */
export class Ledger {
  /** The open segment. */
  readonly path: string;
  /** The sealed segments. */
  readonly folder: string;
  readonly segmentBytes: number;
  readonly #lock: string;

  constructor(root: string, options: { segmentBytes?: number } = {}) {
    this.path = join(root, 'ledger.jsonl');
    this.folder = join(root, 'ledger');
    this.#lock = join(root, 'ledger.lock');
    this.segmentBytes = options.segmentBytes ?? SEGMENT_BYTES;
  }

  /** Throws E_STORAGE where this user may not write the ledger: call it before a run begins, whose end could not be entered. */
  requireWritable(): void {
    try {
      accessSync(this.path, constants.W_OK);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw storageError(error, 'write the ledger', this.path);
    }
  }

  /** Adds lines, durable when the call returns. */
  async append(...entries: LedgerEntry[]): Promise<void> {
    await this.#locked(() => this.#append(entries));
  }

  /** Does `work` while no other process adds a line or seals a segment; `work` adds lines with the function that it is given. */
  async exclusively<T>(work: (append: (entries: readonly LedgerEntry[]) => void) => T): Promise<T> {
    return this.#locked(() => work((entries) => this.#append(entries)));
  }

  /** All lines, without their ends. A last line without an end was never acknowledged and is left out. */
  lines(): string[] {
    return this.scan((lines) => Array.from(lines, (line) => line.toString('utf8')));
  }

  /** Whether an end of a run is entered: the hash of its whole log. Reads only what was entered since the run was made. */
  has(runId: string, eventsSha256: string): boolean {
    const isIt = ({ text, hasEnd }: FileLine) =>
      hasEnd && text.includes(`"${runId}"`) && text.includes(`"${eventsSha256}"`);
    return this.read(
      (sealed, open) =>
        (open !== undefined && someOf(linesOfOpen(open), isIt)) ||
        filesSince(runId, sealed).some(({ path }) => someOf(linesOf(path), isIt)),
    );
  }

  /** What `use` makes of the lines, oldest first; with a run, of those since it was made. It is called again when the files change meanwhile. */
  scan<T>(use: (lines: Iterable<Buffer>) => T, sinceRunId?: string): T {
    return this.read((sealed, open) => {
      const files = sinceRunId === undefined ? sealed : filesSince(sinceRunId, sealed);
      return use(textsOf(files, open));
    });
  }

  /** Gives `use` the files as they are at one moment, the oldest first; the open segment as a descriptor, if there is one. */
  read<T>(use: (sealed: SealedFile[], open: number | undefined) => T): T {
    for (let round = 1; ; round++) {
      let open: number | undefined;
      try {
        open = openIfThere(this.path);
        const sealed = sealedFiles(this.folder);
        // A segment that was sealed after it was opened is read once.
        const last = sealed.at(-1);
        const isSealed = last && open !== undefined && statSync(last.path).ino === fstatSync(open).ino;
        return use(isSealed ? sealed.slice(0, -1) : sealed, open);
      } catch (error) {
        // A compaction replaced a file before it was read: the new ones are read.
        if (errorCode(error) !== 'ENOENT' || round === READ_ROUNDS)
          throw storageError(error, 'read the ledger', this.path);
      } finally {
        if (open !== undefined) closeSync(open);
      }
    }
  }

  async #locked<T>(work: () => T): Promise<T> {
    try {
      return await withFileLock(this.#lock, work);
    } catch (error) {
      throw storageError(error, 'write the ledger', this.path);
    }
  }

  #append(entries: readonly LedgerEntry[]): void {
    let fd = openSegment(this.path);
    try {
      let { line, end } = lastLine(fd);
      ftruncateSync(fd, end);
      if (end >= this.segmentBytes && this.#seal()) {
        const next = openSegment(this.path);
        closeSync(fd);
        fd = next;
        line = undefined;
        end = 0;
      }
      const head = line === undefined ? this.#head() : { prev: sha256(line), entries: [] };
      let { prev } = head;
      const lines = [...head.entries, ...entries].map((entry) => {
        const text = ledgerLine(entry, prev);
        prev = sha256(text);
        return `${text}\n`;
      });
      try {
        writeFully(fd, Buffer.from(lines.join('')));
        fdatasyncSync(fd);
      } catch (error) {
        // After a failed fdatasync the kernel may have dropped the lines: the next line must not follow them.
        ftruncateSync(fd, end);
        throw error;
      }
    } finally {
      closeSync(fd);
    }
  }

  /** False for a segment that cannot be sealed now, for instance on a full disk: it keeps growing. */
  #seal(): boolean {
    try {
      mkdirSync(this.folder, { recursive: true });
      const number = (sealedFiles(this.folder).at(-1)?.last ?? 0) + 1;
      renameSync(this.path, join(this.folder, sealedName(number)));
      syncFolder(this.folder);
      syncFolder(dirname(this.path));
      return true;
    } catch {
      return false;
    }
  }

  /** How a new segment begins. */
  #head(): { prev: string; entries: LedgerEntry[] } {
    const before = sealedFiles(this.folder).at(-1);
    if (before === undefined) return { prev: GENESIS, entries: [] };
    return { prev: hashAtEndOf(before), entries: [{ type: 'segment', segment: before.last + 1 }] };
  }
}

/** In a folder that a group shares, a new segment is for all of them, whatever the umask of the user is who makes it. */
function openSegment(path: string): number {
  const fd = appendOwn(path, 0o644);
  const file = fstatSync(fd);
  if (file.size > 0 || file.uid !== process.getuid?.()) return fd;
  const folder = statSync(dirname(path));
  if ((folder.mode & 0o020) !== 0 && folder.gid === file.gid) fchmodSync(fd, 0o664);
  return fd;
}

/** The sealed files that may have a line about a run. */
function filesSince(runId: string, sealed: readonly SealedFile[]): readonly SealedFile[] {
  const madeMs = timeOfRunId(runId) - CLOCK_SLACK_MS;
  return sealed.slice(
    Math.max(
      0,
      sealed.findLastIndex((file) => beginOf(file) <= madeMs),
    ),
  );
}

function* textsOf(files: readonly SealedFile[], open: number | undefined): Generator<Buffer> {
  for (const { path } of files) for (const { text, hasEnd } of linesOf(path)) if (hasEnd) yield text;
  if (open === undefined) return;
  for (const { text, hasEnd } of linesOfOpen(open)) if (hasEnd) yield text;
}

function someOf(lines: Iterable<FileLine>, isIt: (line: FileLine) => boolean): boolean {
  for (const line of lines) if (isIt(line)) return true;
  return false;
}

function openIfThere(path: string): number | undefined {
  try {
    return openOwn(path);
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
