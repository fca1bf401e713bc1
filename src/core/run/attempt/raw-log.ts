import { closeSync } from 'node:fs';
import { writeFully } from '../../../util/atomic-write.ts';
import { appendOwn } from '../../../util/regular-file.ts';
import { storageError } from '../../store-files/storage-error.ts';

const BUFFER_BYTES = 1 << 16;

/** A log of what a tool wrote to a stream, as it wrote it. */
export class RawLog {
  readonly #path: string;
  /** -1 until something is written: most tools write nothing to one of the streams. */
  #fd = -1;
  #buffer: Buffer | undefined;
  #used = 0;

  constructor(path: string) {
    this.#path = path;
  }

  /** Adds `bytes[start..end)`. Few bytes wait for `store`. */
  add(bytes: Uint8Array, start: number, end: number): void {
    const length = end - start;
    if (this.#used + length > BUFFER_BYTES) this.store();
    if (length > BUFFER_BYTES / 2) this.#write(bytes.subarray(start, end));
    else {
      this.#buffer ??= Buffer.allocUnsafe(BUFFER_BYTES);
      this.#buffer.set(bytes.subarray(start, end), this.#used);
      this.#used += length;
    }
  }

  store(): void {
    if (this.#used === 0) return;
    const bytes = this.#buffer!.subarray(0, this.#used);
    this.#used = 0;
    this.#write(bytes);
  }

  close(): void {
    if (this.#fd !== -1) closeSync(this.#fd);
    this.#fd = -1;
  }

  #write(bytes: Uint8Array): void {
    try {
      if (this.#fd === -1) this.#fd = appendOwn(this.#path, 0o666);
      writeFully(this.#fd, bytes);
    } catch (error) {
      throw storageError(error, 'keep the output of the tool', this.#path);
    }
  }
}
