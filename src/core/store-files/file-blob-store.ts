import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { AcorError } from '../../protocol/acor-error.ts';
import { errorCode } from '../../util/error-code.ts';
import type { Blob, BlobStore } from '../ports/blob-store.ts';

const CHUNK_BYTES = 1 << 18;

/** Artifacts in the place where the user or the tool put them: nothing is copied, and each read compares the whole file with its digest. */
export class FileBlobStore implements BlobStore {
  async keep(_runId: string, _blob: Blob): Promise<void> {}

  async read(_runId: string, blob: Blob, { from, bytes }: { from: number; bytes: number }): Promise<Buffer> {
    const fd = openArtifact(blob.path);
    try {
      if (!fstatSync(fd).isFile()) throw changed(blob);
      const hash = createHash('sha256');
      const kept: Buffer[] = [];
      const chunk = Buffer.alloc(CHUNK_BYTES);
      for (let at = 0; ; ) {
        const count = readSync(fd, chunk, 0, chunk.length, null);
        if (count === 0) break;
        hash.update(chunk.subarray(0, count));
        const start = Math.max(from - at, 0);
        const end = Math.min(from + bytes - at, count);
        if (start < end) kept.push(Buffer.from(chunk.subarray(start, end)));
        at += count;
        if (at > blob.size) throw changed(blob);
      }
      if (hash.digest('hex') !== blob.sha256) throw changed(blob);
      return Buffer.concat(kept);
    } finally {
      closeSync(fd);
    }
  }
}

function openArtifact(path: string): number {
  try {
    // Without O_NONBLOCK a pipe in the file's place would block the reader forever.
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw new AcorError(
      'E_INPUT_NOT_FOUND',
      `the artifact ${path} cannot be read any more (${errorCode(error)})`,
      {
        hint: 'It was removed, or moved, after the run. Run the tool again.',
        cause: error,
      },
    );
  }
}

export function changed({ path }: Blob): AcorError {
  return new AcorError('E_STORAGE', `the artifact ${path} is not what the run made any more`, {
    hint: 'The file was changed after the run. Read the file itself if you want what it is now, or run the tool again.',
  });
}
