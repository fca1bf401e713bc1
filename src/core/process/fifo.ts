import { closeSync, constants, openSync, renameSync } from 'node:fs';
import { removeFile, removeIfPossible } from '../../util/files.ts';
import type { Runtime } from './runtime.ts';

/** How many bytes a FIFO holds, where the system supports it. */
export const FIFO_BYTES = 1 << 20;

/** Makes a FIFO, and replaces one that a killed supervisor left behind. */
export function makeFifo(runtime: Runtime, path: string): void {
  try {
    runtime.makeFifo(path);
  } catch {
    removeFile(path);
    runtime.makeFifo(path);
  }
}

/** A named pipe for what a tool writes, open at both ends. */
export class Fifo {
  readonly readFd: number;
  writeFd = -1;
  #path: string;
  #isOpen = true;

  constructor(runtime: Runtime, path: string) {
    this.#path = path;
    makeFifo(runtime, path);
    this.readFd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      this.writeFd = openSync(path, constants.O_WRONLY);
      runtime.growPipe(this.readFd, FIFO_BYTES);
    } catch (error) {
      this.close();
      throw error;
    }
  }

  get path(): string {
    return this.#path;
  }

  moveTo(path: string): void {
    renameSync(this.#path, path);
    this.#path = path;
  }

  /** The tool was started with this stream. */
  releaseWriteEnd(): void {
    if (this.writeFd !== -1) closeSync(this.writeFd);
    this.writeFd = -1;
  }

  /** For another start of the tool. */
  openWriteEnd(): void {
    if (this.writeFd === -1) this.writeFd = openSync(this.#path, constants.O_WRONLY);
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.releaseWriteEnd();
    closeSync(this.readFd);
    removeIfPossible(this.#path);
  }
}
