import { closeSync, constants, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../util/error-code.ts';
import { removeIfPossible } from '../../util/files.ts';
import type { Runtime } from './runtime.ts';

/**
 * A tool's standard input that stays open, so that lines can be sent while it runs. A tool that does not read never
 * blocks the supervisor: a line that does not fit into the pipe is dropped, and the tool can read it from a file.
 */
export class InputPipe implements Disposable {
  readonly #path: string;
  #writeFd: number;
  #readFd: number;

  /** `bytes` is the capacity of the pipe, where the system supports it. */
  constructor(runtime: Runtime, folder: string, bytes?: number) {
    this.#path = join(folder, 'stdin');
    // A FIFO that a killed supervisor left behind.
    rmSync(this.#path, { force: true });
    runtime.makeFifo(this.#path);
    // Opened for reading and writing: otherwise the open would wait for the tool, and a write to a closed pipe would
    // raise SIGPIPE.
    this.#writeFd = openSync(this.#path, constants.O_RDWR | constants.O_NONBLOCK);
    this.#readFd = openSync(this.#path, constants.O_RDONLY);
    if (bytes !== undefined) runtime.growPipe(this.#writeFd, bytes);
  }

  /** The tool's standard input for its start. */
  get target(): number {
    return this.#readFd;
  }

  /** The tool was started with this standard input. */
  releaseReadEnd(): void {
    closeSync(this.#readFd);
    this.#readFd = -1;
  }

  write(line: string): void {
    if (this.#writeFd === -1) return;
    try {
      writeSync(this.#writeFd, `${line}\n`);
    } catch {
      // The pipe is full: the tool does not read.
    }
  }

  /** Writes as much of `bytes[from..]` as fits now. Returns the number of bytes. */
  offer(bytes: Uint8Array, from: number): number {
    try {
      return writeSync(this.#writeFd, bytes, from);
    } catch (error) {
      if (errorCode(error) === 'EAGAIN') return 0;
      throw error;
    }
  }

  /** Closes the pipe: the tool reads the end of its input after the data in the pipe. */
  end(): void {
    if (this.#writeFd === -1) return;
    closeSync(this.#writeFd);
    this.#writeFd = -1;
  }

  [Symbol.dispose](): void {
    if (this.#readFd !== -1) closeSync(this.#readFd);
    this.end();
    removeIfPossible(this.#path);
  }
}
