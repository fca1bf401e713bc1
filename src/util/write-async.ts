import { write } from 'node:fs';
import { errorCode } from './error-code.ts';

const RETRY_MS = 2;

/**
 * Writes all bytes to a descriptor without blocking the process, however slow the reader is.
 * `closed` means that the reader has closed the pipe.
 */
export async function writeAsync(fd: number, bytes: Uint8Array): Promise<'written' | 'closed'> {
  for (let offset = 0; offset < bytes.length; ) {
    try {
      offset += await writeSome(fd, bytes, offset);
    } catch (error) {
      if (errorCode(error) === 'EPIPE') return 'closed';
      if (errorCode(error) !== 'EAGAIN') throw error;
      // Another process that shares the pipe has made it non-blocking.
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
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
