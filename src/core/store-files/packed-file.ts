import { closeSync, fstatSync, readSync } from 'node:fs';
import { errorCode, errorMessage } from '../../util/error-code.ts';
import { openOwn } from '../../util/regular-file.ts';
import { inflate } from './frames.ts';
import {
  damagedPack,
  FRAME_BYTES,
  identityOf,
  type PackedFileEntry,
  type PackedRun,
  type PackTable,
} from './pack-table.ts';
import type { ReadableFile } from './readable-file.ts';

/** A run, and the pack that contains it. */
export interface FoundRun {
  table: PackTable;
  run: PackedRun;
}

/** A file of a run in a pack. Reading a part of it inflates the frames of that part. */
export class PackedFile implements ReadableFile {
  readonly location: string;
  readonly watched: undefined;
  readonly size: number;
  readonly #fd: number;
  readonly #found: FoundRun;
  readonly #file: PackedFileEntry;
  /** Where each frame begins in the pack; at the end, where the last one ends. */
  readonly #starts: number[];
  /** The frame that was read last. */
  #frame: { index: number; bytes: Buffer } | undefined;

  /** Undefined when the pack was replaced after its table was read. */
  static open(found: FoundRun, file: PackedFileEntry): PackedFile | undefined {
    let fd: number;
    try {
      fd = openOwn(found.table.path);
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return undefined;
      throw error;
    }
    if (identityOf(fstatSync(fd)) === found.table.identity) return new PackedFile(fd, found, file);
    closeSync(fd);
    return undefined;
  }

  private constructor(fd: number, found: FoundRun, file: PackedFileEntry) {
    this.#fd = fd;
    this.#found = found;
    this.#file = file;
    this.location = `${found.table.path}/${found.run.run_id}/${file.path}`;
    this.size = file.size;
    this.#starts = [startOf(found.run, file)];
    for (const length of file.frames) this.#starts.push(this.#starts.at(-1)! + length);
  }

  /** A pack is synced before it replaces the files. */
  sync(): void {}

  read(into: Uint8Array, from: number): number {
    const end = Math.min(this.size, from + into.length);
    let at = from;
    while (at < end) {
      const index = Math.floor(at / FRAME_BYTES);
      const start = at - index * FRAME_BYTES;
      const part = this.#frameAt(index).subarray(start, start + end - at);
      into.set(part, at - from);
      at += part.length;
    }
    return Math.max(0, end - from);
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }

  #frameAt(index: number): Buffer {
    if (this.#frame?.index !== index) this.#frame = { index, bytes: this.#inflated(index) };
    return this.#frame.bytes;
  }

  #inflated(index: number): Buffer {
    const [start, end] = [this.#starts[index]!, this.#starts[index + 1]!];
    const expected = Math.min(FRAME_BYTES, this.size - index * FRAME_BYTES);
    try {
      const stored = Buffer.allocUnsafe(end - start);
      const count = readSync(this.#fd, stored, 0, stored.length, start);
      const bytes = inflate(stored.subarray(0, count));
      if (bytes.length === expected) return bytes;
      throw new Error(`a frame has ${bytes.length} bytes instead of ${expected}`);
    } catch (error) {
      const { table, run } = this.#found;
      throw damagedPack(table.path, `${this.#file.path}: ${errorMessage(error)}`, run.run_id);
    }
  }
}

function startOf(run: PackedRun, file: PackedFileEntry): number {
  let start = run.at;
  for (const each of run.files) {
    if (each === file) break;
    for (const length of each.frames) start += length;
  }
  return start;
}
