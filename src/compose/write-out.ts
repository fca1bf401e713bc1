import { writeSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const FIRST_WAIT_MS = 1;
const MAX_WAIT_MS = 50;

/**
 * Writes all of a text to a descriptor before it returns, so that an immediate exit loses nothing. False when the
 * reader has closed it.
 */
export async function writeOut(fd: number, text: string): Promise<boolean> {
  const bytes = Buffer.from(text, 'utf8');
  let waitMs = FIRST_WAIT_MS;
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(fd, bytes, written);
      waitMs = FIRST_WAIT_MS;
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code;
      if (code === 'EPIPE') return false;
      // Another process made the pipe non-blocking, and it is full until its reader catches up.
      if (code !== 'EAGAIN' && code !== 'EINTR') throw error;
      await delay(waitMs);
      waitMs = Math.min(waitMs * 2, MAX_WAIT_MS);
    }
  }
  return true;
}
