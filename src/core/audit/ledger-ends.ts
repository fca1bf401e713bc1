import { fstatSync, readSync } from 'node:fs';
import { errorCode } from '../../util/error-code.ts';
import { parseObject } from '../../util/parse-object.ts';
import { readOwn } from '../../util/regular-file.ts';
import type { Ledger } from '../store-files/ledger.ts';
import { beginOf, type SealedFile } from '../store-files/ledger-files.ts';
import { storageError } from '../store-files/storage-error.ts';
import type { EnteredEnd } from './entered-runs.ts';

/** The runner adds the ledger line right after `runner_end`. A line that was added later than this is found by a search. */
const BEFORE_MS = 1_000;
const AFTER_MS = 2_000;

const LF = 10;

/**
 * Finds the ends of runs in a ledger as it is now. Parses only the lines that name the run, and checks no hash: lists look at many runs, which
 * are mostly in the same few files, so each file is read once.
 */
export class LedgerEnds {
  readonly #ledger: Ledger;
  #open: Buffer = Buffer.alloc(0);
  #sealed: readonly SealedFile[] = [];
  readonly #bytes = new Map<SealedFile, Buffer>();
  readonly #begins = new Map<SealedFile, number>();

  constructor(ledger: Ledger) {
    this.#ledger = ledger;
    this.#readAgain();
  }

  /** The ends of a run, some of which were added at these times. */
  of(runId: string, timesMs: readonly number[]): EnteredEnd[] {
    try {
      return this.#find(runId, timesMs);
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw storageError(error, 'read the ledger', this.#ledger.folder);
      // A compaction replaced a file before it was read: the new ones are read.
      this.#readAgain();
      return this.#find(runId, timesMs);
    }
  }

  #readAgain(): void {
    this.#bytes.clear();
    this.#begins.clear();
    this.#ledger.read((sealed, open) => {
      this.#sealed = sealed;
      this.#open = open === undefined ? Buffer.alloc(0) : readOpen(open);
    });
  }

  #find(runId: string, timesMs: readonly number[]): EnteredEnd[] {
    const ends = endsIn(this.#open, runId);
    if (ends.length >= timesMs.length) return ends;
    for (const file of this.#nearestFirst(timesMs)) {
      ends.push(...endsIn(this.#bytesOf(file), runId));
      if (ends.length >= timesMs.length) break;
    }
    return ends;
  }

  /** A run is mostly entered in the file that began last before its end. */
  #nearestFirst(timesMs: readonly number[]): SealedFile[] {
    const beginMsOf = (file: SealedFile) => this.#beginMsOf(file);
    const near = filesAt(timesMs, this.#sealed, beginMsOf);
    const distance = (file: SealedFile) =>
      Math.min(...timesMs.map((ms) => Math.abs(ms - this.#beginMsOf(file))));
    const far = new Map(Array.from(near, (file) => [file, distance(file)]));
    const sorted = [...far.keys()].sort((a, b) => far.get(a)! - far.get(b)!);
    return [...sorted, ...this.#sealed.filter((file) => !near.has(file))];
  }

  #bytesOf(file: SealedFile): Buffer {
    const bytes = this.#bytes.get(file) ?? readOwn(file.path);
    this.#bytes.set(file, bytes);
    return bytes;
  }

  #beginMsOf(file: SealedFile): number {
    const beginMs = this.#begins.get(file) ?? beginOf(file);
    this.#begins.set(file, beginMs);
    return beginMs;
  }
}

function endsIn(bytes: Buffer, runId: string): EnteredEnd[] {
  const name = `"${runId}"`;
  const found: EnteredEnd[] = [];
  for (let at = bytes.indexOf(name); at !== -1; ) {
    const end = bytes.indexOf(LF, at);
    if (end === -1) break;
    const entry = parseObject(bytes.toString('utf8', bytes.lastIndexOf(LF, at) + 1, end));
    if (entry?.type === 'run' && entry.run_id === runId)
      found.push({ events: Number(entry.events), sha256: String(entry.events_sha256) });
    at = bytes.indexOf(name, end);
  }
  return found;
}

/** The open segment of a ledger as it is now. */
export function readOpen(fd: number): Buffer {
  const bytes = Buffer.allocUnsafe(fstatSync(fd).size);
  return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0));
}

/** The files are in the order of their times. When the clock was set back, a file may be missed. */
export function filesAt(
  timesMs: readonly number[],
  sealed: readonly SealedFile[],
  beginMsOf = beginOf,
): Set<SealedFile> {
  const wanted = new Set<SealedFile>();
  for (const timeMs of timesMs) {
    let [low, high] = [0, sealed.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (beginMsOf(sealed[middle]!) <= timeMs - BEFORE_MS) low = middle + 1;
      else high = middle;
    }
    const later = sealed.slice(low);
    const end = later.findIndex((file) => beginMsOf(file) > timeMs + AFTER_MS);
    for (const file of sealed.slice(Math.max(0, low - 1), end === -1 ? undefined : low + end))
      wanted.add(file);
  }
  return wanted;
}
