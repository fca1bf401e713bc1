import { writeSync } from 'node:fs';

const STDOUT = 1;
/** The exit code that a shell reports for a program killed by SIGPIPE. */
const EXIT_BROKEN_PIPE = 141;

/** Writes one whole line to stdout before it returns; when the reader has closed the pipe, the tool exits quietly. */
export function writeLine(text: string): void {
  const bytes = Buffer.from(`${text}\n`);
  for (let offset = 0; offset < bytes.length; ) {
    try {
      offset += writeSync(STDOUT, bytes, offset);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // A socket, which a runtime uses as a pipe, may report the other error code.
      if (code === 'EPIPE' || code === 'ECONNRESET') process.exit(EXIT_BROKEN_PIPE);
      // Node makes a pipe on fd 1 non-blocking as soon as process.stdout is used.
      if (code !== 'EAGAIN') throw error;
      blockForMs(1);
    }
  }
}

/** Waits without yielding to the event loop. */
export function blockForMs(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
