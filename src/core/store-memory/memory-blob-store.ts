import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { AcorError } from '../../protocol/acor-error.ts';
import type { Blob, BlobStore } from '../ports/blob-store.ts';
import { changed } from '../store-files/file-blob-store.ts';

/** Content by digest, in this process: a copy, as a store on another machine has one. */
export class MemoryBlobStore implements BlobStore {
  readonly #contents = new Map<string, Buffer>();

  async keep(_runId: string, blob: Blob): Promise<void> {
    const content = await readFile(blob.path);
    if (createHash('sha256').update(content).digest('hex') !== blob.sha256) throw changed(blob);
    this.#contents.set(blob.sha256, content);
  }

  async read(_runId: string, blob: Blob, { from, bytes }: { from: number; bytes: number }): Promise<Buffer> {
    const content = this.#contents.get(blob.sha256);
    if (content !== undefined) return content.subarray(from, from + bytes);
    throw new AcorError('E_INPUT_NOT_FOUND', `the content of ${blob.path} is not in this store`);
  }
}
