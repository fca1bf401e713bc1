import { AcorError } from '../../protocol/acor-error.ts';
import type { Seal } from '../../protocol/v1/runner-events.ts';
import { newSha256 } from '../../util/sha256.ts';
import type { FileRunStore } from '../store-files/file-run-store.ts';
import { type FileLine, linesOfFile } from '../store-files/ledger-files.ts';
import type { ReadableFile } from '../store-files/readable-file.ts';
import { findBrokenMark } from '../store-files/seal.ts';

const CHUNK_BYTES = 1 << 18;

/** The bytes of an event log as they were when it was opened, read in chunks: memory does not grow with the log. */
export class LogBytes implements Disposable {
  /** Where the log is, for messages. */
  readonly location: string;
  readonly size: number;
  readonly #log: ReadableFile;
  readonly #chunk: Buffer;

  /** Closes the log when it is disposed of. */
  constructor(log: ReadableFile) {
    this.#log = log;
    this.location = log.location;
    this.size = log.size;
    this.#chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, this.size));
  }

  /** A live run adds lines meanwhile, which are left out. */
  *lines(): Generator<FileLine> {
    for (const line of linesOfFile(this.#log)) {
      if (line.to > this.size) return;
      yield line;
    }
  }

  /** The SHA-256 of the bytes before an offset. */
  sha256(to: number = this.size): string {
    const hash = newSha256();
    for (const bytes of this.#chunks(0, to)) hash.update(bytes);
    return hash.digest('hex');
  }

  /** Where the bytes before an offset differ from a seal; undefined when they do not. */
  brokenMark(to: number, seal: Seal): { from: number; to: number } | undefined {
    return findBrokenMark(to, (from, end) => this.#chunks(from, end), seal);
  }

  /** The number of the line that an offset is in. */
  lineAt(offset: number): number {
    let line = 1;
    for (const bytes of this.#chunks(0, offset))
      for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) line++;
    return line;
  }

  /** Where the first lines end; undefined when there are fewer. */
  endOfLines(count: number): number | undefined {
    let left = count;
    let from = 0;
    for (const bytes of this.#chunks(0, this.size)) {
      for (let at = -1; left > 0; left--) {
        at = bytes.indexOf(10, at + 1);
        if (at === -1) break;
        if (left === 1) return from + at + 1;
      }
      from += bytes.length;
    }
    return count === 0 ? 0 : undefined;
  }

  [Symbol.dispose](): void {
    this.#log[Symbol.dispose]();
  }

  /** Each chunk is only valid until the next one is read. The offsets of a seal that was changed may be no whole numbers. */
  *#chunks(from: number, to: number): Generator<Buffer> {
    const end = Math.trunc(to);
    for (let at = Math.trunc(from); at < end; ) {
      const count = this.#log.read(this.#chunk.subarray(0, end - at), at);
      if (count === 0) return;
      yield this.#chunk.subarray(0, count);
      at += count;
    }
  }
}

/** The log of a run, or why it cannot be read. */
export function openLog(store: FileRunStore, runId: string): ReadableFile | string {
  try {
    return store.logIfThere(runId) ?? 'the event log is gone';
  } catch (error) {
    if (error instanceof AcorError) return error.message;
    throw error;
  }
}
