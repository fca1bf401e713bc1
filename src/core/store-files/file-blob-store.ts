import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { AcorError } from '../../protocol/acor-error.ts';
import { errorCode } from '../../util/error-code.ts';
import { newSha256 } from '../../util/sha256.ts';
import type { Blob, BlobStore } from '../ports/blob-store.ts';
import { chunksOf, PlainFile, type ReadableFile } from './readable-file.ts';
import type { RunFiles } from './run-files.ts';

/**
 * Artifacts in the place where the user or the tool put them, or in the pack of their run: nothing is copied, and each read compares the
 * whole file with its digest.
 */
export class FileBlobStore implements BlobStore {
  readonly #files: RunFiles;

  constructor(files: RunFiles) {
    this.#files = files;
  }

  async keep(_runId: string, _blob: Blob): Promise<void> {}

  async read(runId: string, blob: Blob, { from, bytes }: { from: number; bytes: number }): Promise<Buffer> {
    using file = this.#open(runId, blob);
    const hash = newSha256();
    const kept: Buffer[] = [];
    let at = 0;
    for (const chunk of chunksOf(file)) {
      hash.update(chunk);
      const start = Math.max(from - at, 0);
      const end = Math.min(from + bytes - at, chunk.length);
      if (start < end) kept.push(Buffer.from(chunk.subarray(start, end)));
      at += chunk.length;
      if (at > blob.size) throw changed(blob);
    }
    if (hash.digest('hex') !== blob.sha256) throw changed(blob);
    return Buffer.concat(kept);
  }

  #open(runId: string, blob: Blob): ReadableFile {
    const inside = this.#files.pathInside(runId, blob.path);
    try {
      if (inside !== undefined) this.#files.refuseLinks(runId, inside);
      return openArtifact({ ...blob, path: this.#files.pathNow(runId, blob.path) });
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw unreadable(blob, error);
      const packed = inside === undefined ? undefined : this.#files.open(runId, inside);
      if (packed !== undefined) return packed;
      throw unreadable(blob, error);
    }
  }
}

function openArtifact(blob: Blob): PlainFile {
  // Without O_NONBLOCK a pipe in the file's place would block the reader forever.
  const fd = openSync(blob.path, constants.O_RDONLY | constants.O_NONBLOCK);
  if (fstatSync(fd).isFile()) return new PlainFile(blob.path, fd);
  closeSync(fd);
  throw changed(blob);
}

function unreadable({ path }: Blob, error: unknown): AcorError {
  if (error instanceof AcorError) return error;
  return new AcorError(
    'E_INPUT_NOT_FOUND',
    `the artifact ${path} cannot be read any more (${errorCode(error)})`,
    {
      hint: 'It was removed, or moved, after the run. Run the tool again.',
      cause: error,
    },
  );
}

export function changed({ path }: Blob): AcorError {
  return new AcorError('E_INTEGRITY', `the artifact ${path} is not what the run made any more`, {
    hint: 'The file was changed after the run. Read the file itself if you want what it is now, or run the tool again.',
  });
}
