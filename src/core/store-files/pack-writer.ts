import { closeSync, constants, fstatSync, fsyncSync, ftruncateSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { writeFully } from '../../util/atomic-write.ts';
import { newSha256 } from '../../util/sha256.ts';
import { deflate } from './frames.ts';
import {
  damagedPack,
  FRAME_BYTES,
  HEADER,
  type PackedFileEntry,
  type PackedRun,
  tableAndFooter,
} from './pack-table.ts';
import type { PlainFile } from './readable-file.ts';
import type { ScannedRun } from './scan-run.ts';

const COPY_BYTES = 1 << 20;

/** Writes a pack to a new file. Its memory does not grow with the content of the runs. */
export class PackWriter implements Disposable {
  readonly #fd: number;
  readonly #runs: PackedRun[] = [];
  readonly #frame = Buffer.allocUnsafe(FRAME_BYTES);
  #offset = HEADER.length;

  constructor(path: string) {
    this.#fd = openSync(path, 'ax+', 0o600);
    writeFully(this.#fd, HEADER);
  }

  get runIds(): string[] {
    return this.#runs.map(({ run_id }) => run_id);
  }

  /** Adds the files of a run, unless one of them cannot be read, or was changed since it was scanned. */
  add(ids: { run_id: string; ancestors: string[] }, dir: string, { folders, files }: ScannedRun): void {
    const at = this.#offset;
    try {
      const entries = files.map((file) => this.#addFile(join(dir, file.path), file));
      this.#runs.push({ ...ids, at, bytes: this.#offset - at, folders, files: entries });
    } catch (error) {
      ftruncateSync(this.#fd, at);
      this.#offset = at;
      if (!(error instanceof NotPackable)) throw error;
    }
  }

  /** Adds a run from another pack, its content as it is stored there. */
  copy(run: PackedRun, pack: PlainFile): void {
    const at = this.#offset;
    for (let done = 0; done < run.bytes; ) {
      const part = Buffer.allocUnsafe(Math.min(COPY_BYTES, run.bytes - done));
      const count = pack.read(part, run.at + done);
      if (count === 0) throw damagedPack(pack.location, 'it is shorter than its table says', run.run_id);
      this.#write(part.subarray(0, count));
      done += count;
    }
    this.#runs.push({ ...run, at });
  }

  /** Writes the table. Once this returns, the pack is on the disk. */
  finish(): void {
    writeFully(this.#fd, tableAndFooter(this.#runs, this.#offset));
    fsyncSync(this.#fd);
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }

  #addFile(path: string, { path: name, stat }: ScannedRun['files'][number]): PackedFileEntry {
    const fd = openSource(path);
    try {
      const hash = newSha256();
      const frames: number[] = [];
      for (let at = 0; at < stat.size; at += FRAME_BYTES) {
        const raw = this.#frame.subarray(0, Math.min(FRAME_BYTES, stat.size - at));
        if (readSync(fd, raw, 0, raw.length, at) !== raw.length) throw new NotPackable(path);
        hash.update(raw);
        const stored = deflate(raw);
        this.#write(stored);
        frames.push(stored.length);
      }
      const now = fstatSync(fd);
      if (now.ino !== stat.ino || now.size !== stat.size || now.mtimeMs !== stat.mtimeMs)
        throw new NotPackable(path);
      return {
        path: name,
        mode: stat.mode & 0o7777,
        mtime_ms: stat.mtimeMs,
        size: stat.size,
        sha256: hash.digest('hex'),
        frames,
      };
    } finally {
      closeSync(fd);
    }
  }

  #write(bytes: Buffer): void {
    writeFully(this.#fd, bytes);
    this.#offset += bytes.length;
  }
}

function openSource(path: string): number {
  try {
    return openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    throw new NotPackable(path);
  }
}

/** A file that is not what it was when its run was scanned, or cannot be read. */
class NotPackable extends Error {}
