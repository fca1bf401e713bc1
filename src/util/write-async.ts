import { constants, fstatSync, openSync, write, writeSync } from 'node:fs';
import { errorCode, errorMessage } from './error-code.ts';
import { isMemoryDevice } from './files.ts';
import { pause } from './pause.ts';

const RETRY_MS = 2;
/** A pipe takes so many bytes whole or not at all. */
const PIPE_BUF = 4096;
const STANDARD_STREAMS = 3;

/** A descriptor takes no more bytes, and not because its reader has left. The error code and message are those of the write. */
export class UnwrittenError extends Error {
  readonly code: string | undefined;
  readonly fd: number;

  constructor(fd: number, cause: unknown) {
    super(errorMessage(cause), { cause });
    this.code = errorCode(cause);
    this.fd = fd;
  }
}

/**
 * Writes all bytes to a descriptor without blocking the process, however slow the reader is.
 * `closed` means that the reader has closed the pipe.
 */
export async function writeAsync(fd: number, bytes: Uint8Array): Promise<'written' | 'closed'> {
  for (let offset = writeNow(fd, bytes); offset < bytes.length; ) {
    try {
      offset += await writeSome(fd, bytes, offset);
    } catch (error) {
      if (errorCode(error) === 'EPIPE') return 'closed';
      if (errorCode(error) !== 'EAGAIN') throw new UnwrittenError(fd, error);
      // Another process that shares the pipe has made it non-blocking.
      await pause(RETRY_MS);
    }
  }
  return 'written';
}

function writeSome(fd: number, bytes: Uint8Array, offset: number): Promise<number> {
  return new Promise((resolve, reject) => {
    write(fd, bytes, offset, bytes.length - offset, null, (error, count) =>
      error ? reject(error) : resolve(count),
    );
  });
}

/**
 * Writes few bytes at once where no reader can make that wait, and returns how many: the first write on another thread starts two of them. Whatever
 * fails is left to that write.
 */
function writeNow(fd: number, bytes: Uint8Array): number {
  if (bytes.length > PIPE_BUF) return 0;
  const direct = directOf(fd);
  if (direct === undefined) return 0;
  try {
    return writeSync(direct, bytes);
  } catch {
    return 0;
  }
}

/** By the descriptor that is written: the one by which that never waits. */
const known = new Map<number, number | undefined>();

/** Notes a descriptor that never waits; returns what forgets it, to be called before it is closed. */
export function neverWaits(fd: number): () => void {
  known.set(fd, fd);
  return () => known.delete(fd);
}

/** Undefined for a terminal, and for a socket or another descriptor that is not noted. */
function directOf(fd: number): number | undefined {
  if (fd < STANDARD_STREAMS && !known.has(fd)) known.set(fd, openDirect(fd));
  return known.get(fd);
}

function openDirect(fd: number): number | undefined {
  try {
    const stats = fstatSync(fd);
    if (stats.isFile() || isMemoryDevice(stats)) return fd;
    if (process.platform !== 'linux' || !stats.isFIFO()) return undefined;
    // The other end keeps its flags, and so does what this process has been given.
    return openSync(`/proc/self/fd/${fd}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
}
