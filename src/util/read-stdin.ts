import { errorCode, errorMessage } from './error-code.ts';

/** The most bytes of standard input that a command takes. */
export const MAX_STDIN_BYTES = 64 * 1024 * 1024;

/** The problem of standard input that is longer. */
export const TOO_LONG = 'EFBIG';

/** All that standard input held. */
export interface StdinBytes {
  /** Empty with a problem. */
  bytes: Buffer;
  /** The error code of a read that failed, as with a folder, or `TOO_LONG`. */
  problem?: string | undefined;
}

/** Reads standard input to its end, or to the limit: `/dev/zero` and `yes` have no end. */
export async function readStdin(): Promise<StdinBytes> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of process.stdin) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > MAX_STDIN_BYTES) return { bytes: Buffer.alloc(0), problem: TOO_LONG };
    }
  } catch (error) {
    return { bytes: Buffer.alloc(0), problem: errorCode(error) ?? errorMessage(error) };
  }
  return { bytes: Buffer.concat(chunks) };
}
