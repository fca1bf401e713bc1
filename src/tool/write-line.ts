import { writeSync } from 'node:fs';

const STDOUT = 1;
/** What a shell reports for a program that SIGPIPE ended. */
const EXIT_BROKEN_PIPE = 141;

/** Writes one whole line on stdout before it returns; when nobody reads any more, the tool ends quietly. */
export function writeLine(text: string): void {
  const bytes = Buffer.from(`${text}\n`);
  for (let offset = 0; offset < bytes.length; ) {
    try {
      offset += writeSync(STDOUT, bytes, offset);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // A socket, which is what a runtime's pipe is, may report the other name.
      if (code === 'EPIPE' || code === 'ECONNRESET') process.exit(EXIT_BROKEN_PIPE);
      // Node makes a pipe on fd 1 non-blocking as soon as process.stdout is used.
      if (code !== 'EAGAIN') throw error;
      blockForMs(1);
    }
  }
}

/** Waits without giving way to the event loop. */
export function blockForMs(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
