import { closeSync, constants, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../util/error-code.ts';
import { removeIfPossible } from '../../util/remove-if-possible.ts';
import type { Runtime } from './runtime.ts';

/**
 * A tool's standard input that stays open, so that lines can be handed in while it runs. A tool that does not read never
 * blocks the supervisor: a line that finds the pipe full is left out, and is found as a file.
 */
export class InputPipe implements Disposable {
  readonly #path: string;
  #writeFd: number;
  #readFd: number;

  /** `bytes` is how much it is to hold, where the system lets that be chosen. */
  constructor(runtime: Runtime, folder: string, bytes?: number) {
    this.#path = join(folder, 'stdin');
    // A supervisor that was killed has left its own.
    rmSync(this.#path, { force: true });
    runtime.makeFifo(this.#path);
    // Opened for both, or the opening would wait for the tool, and writing to a tool that has closed its end would be a signal.
    this.#writeFd = openSync(this.#path, constants.O_RDWR | constants.O_NONBLOCK);
    this.#readFd = openSync(this.#path, constants.O_RDONLY);
    if (bytes !== undefined) runtime.growPipe(this.#writeFd, bytes);
  }

  /** What to give the tool as its standard input. */
  get target(): number {
    return this.#readFd;
  }

  /** The tool has been started with the target. */
  releaseReadEnd(): void {
    closeSync(this.#readFd);
    this.#readFd = -1;
  }

  write(line: string): void {
    if (this.#writeFd === -1) return;
    try {
      writeSync(this.#writeFd, `${line}\n`);
    } catch {
      // Full: the tool does not read.
    }
  }

  /** Writes as much of `bytes[from..]` as there is room for now; how many bytes that was. */
  offer(bytes: Uint8Array, from: number): number {
    try {
      return writeSync(this.#writeFd, bytes, from);
    } catch (error) {
      if (errorCode(error) === 'EAGAIN') return 0;
      throw error;
    }
  }

  /** Nothing more will come: the tool finds its standard input at its end, once it has read what is in the pipe. */
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
