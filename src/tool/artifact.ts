import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { ToolError } from './tool-error.ts';

/** A file that a tool created, as listed in a `result`; the runner hashes it again. */
export interface Artifact {
  path: string;
  sha256: string;
  size: number;
}

const CHUNK_BYTES = 1 << 20;

/** Describes a file for the `artifacts` of a result. Throws E_INPUT_NOT_FOUND for one that cannot be read. */
export function artifact(path: string): Artifact {
  try {
    return describe(path);
  } catch (error) {
    throw new ToolError(
      'E_INPUT_NOT_FOUND',
      `cannot read the artifact ${path}: ${(error as Error).message}`,
      'Write the file before you describe it.',
      { cause: error },
    );
  }
}

function describe(path: string): Artifact {
  const hash = createHash('sha256');
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  const fd = openSync(path, 'r');
  try {
    let size = 0;
    for (let length = readSync(fd, chunk); length > 0; length = readSync(fd, chunk)) {
      hash.update(chunk.subarray(0, length));
      size += length;
    }
    return { path, sha256: hash.digest('hex'), size };
  } finally {
    closeSync(fd);
  }
}
