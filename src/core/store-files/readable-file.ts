import { closeSync, fdatasyncSync, fstatSync, read, readSync } from 'node:fs';
import { openOwn } from '../../util/regular-file.ts';
import { newSha256 } from '../../util/sha256.ts';

const CHUNK_BYTES = 1 << 18;

/** A file of a run that is open for reading, in the run's folder or in a pack. */
export interface ReadableFile extends Disposable {
  /** Where the bytes are, for messages. */
  readonly location: string;
  /** The path that changes when bytes are added; undefined for a file that never changes. */
  readonly watched: string | undefined;
  /** In bytes, now. */
  readonly size: number;
  /** Returns once its bytes survive a loss of power. */
  sync(): void;
  /** Fills `into` from an offset on, and returns how many bytes there were. */
  read(into: Uint8Array, from: number): number;
  /** The same on another thread, where the file can. */
  readBeside?(into: Uint8Array, from: number): Promise<number>;
}

/** A file of its own, which may grow while it is read. */
export class PlainFile implements ReadableFile {
  readonly location: string;
  readonly watched: string;
  readonly #fd: number;

  constructor(path: string, fd: number = openOwn(path)) {
    this.location = path;
    this.watched = path;
    this.#fd = fd;
  }

  get size(): number {
    return fstatSync(this.#fd).size;
  }

  sync(): void {
    fdatasyncSync(this.#fd);
  }

  read(into: Uint8Array, from: number): number {
    return readSync(this.#fd, into, 0, into.length, from);
  }

  readBeside(into: Uint8Array, from: number): Promise<number> {
    return new Promise((resolve, reject) => {
      read(this.#fd, into, 0, into.length, from, (error, count) => (error ? reject(error) : resolve(count)));
    });
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }
}

/** All bytes of a file. */
export function bytesOf(file: ReadableFile): Buffer {
  const bytes = Buffer.allocUnsafe(file.size);
  return bytes.subarray(0, file.read(bytes, 0));
}

/** The bytes of a file in chunks, each valid until the next one is read. */
export function* chunksOf(file: ReadableFile): Generator<Buffer> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let at = 0; ; ) {
    const count = file.read(chunk, at);
    if (count === 0) return;
    yield chunk.subarray(0, count);
    at += count;
  }
}

/** The SHA-256 of the content of a file, in hexadecimal. */
export function sha256Of(file: ReadableFile): string {
  const hash = newSha256();
  for (const chunk of chunksOf(file)) hash.update(chunk);
  return hash.digest('hex');
}
