import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { AcorError } from '../../protocol/acor-error.ts';
import { errorCode } from '../../util/error-code.ts';
import type { MeasuredArtifact } from './artifacts.ts';

const CHUNK_BYTES = 1 << 18;

/**
 * Reads a range of bytes of an artifact, and hashes the whole file, so that it returns only what the run wrote. Throws
 * E_INPUT_NOT_FOUND when the file does not exist, and E_STORAGE when it has changed since the run.
 */
export function readArtifact(artifact: MeasuredArtifact, from: number, bytes: number): Buffer {
  const fd = openArtifact(artifact.path);
  try {
    if (!fstatSync(fd).isFile()) throw changed(artifact);
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
      if (at > artifact.size) throw changed(artifact);
    }
    if (hash.digest('hex') !== artifact.sha256) throw changed(artifact);
    return Buffer.concat(kept);
  } finally {
    closeSync(fd);
  }
}

function openArtifact(path: string): number {
  try {
    // Without O_NONBLOCK, opening a FIFO would block the reader for ever.
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw new AcorError('E_INPUT_NOT_FOUND', `cannot read the artifact ${path} (${errorCode(error)})`, {
      hint: 'It was removed or moved after the run. Run the tool again.',
      cause: error,
    });
  }
}

function changed({ path }: MeasuredArtifact): AcorError {
  return new AcorError('E_STORAGE', `the artifact ${path} has changed since the run`, {
    hint: 'For its present content, read the file itself. For the content of the run, run the tool again.',
  });
}
