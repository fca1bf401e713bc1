import { closeSync, constants, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../util/error-code.ts';
import { removeIfPossible } from '../../util/files.ts';
import { makeFifo } from './fifo.ts';
import type { Runtime } from './runtime.ts';

/** More than this is not kept for a tool that does not read: it finds the lines in files as well. */
const MAX_PENDING_BYTES = 1 << 24;
const FIRST_PAUSE_MS = 1;
const MAX_PAUSE_MS = 200;

/**
 * A tool's standard input that stays open, so that lines can be sent while it runs. A tool that does not read never
 * blocks the supervisor: what does not fit into the pipe is sent later, in order, and no line is sent in part only.
 */
export class InputPipe implements Disposable {
  /** Undefined once it has no name. */
  #path: string | undefined;
  #writeFd = -1;
  #readFd = -1;
  #pending: Buffer[] = [];
  #pendingBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #endsWhenSent = false;

  /** `bytes` is the capacity of the pipe, where the system supports it. */
  constructor(runtime: Runtime, folder: string, bytes?: number) {
    const path = join(folder, 'stdin');
    this.#path = path;
    makeFifo(runtime, path);
    // Opened for reading and writing: otherwise the open would wait for the tool, and a write to a closed pipe would
    // raise SIGPIPE.
    try {
      this.#writeFd = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
      this.#readFd = openSync(path, constants.O_RDONLY);
      if (bytes !== undefined) runtime.growPipe(this.#writeFd, bytes);
    } catch (error) {
      this[Symbol.dispose]();
      throw error;
    }
  }

  /** The tool's standard input for its start. */
  get target(): number {
    return this.#readFd;
  }

  moveTo(folder: string): void {
    const path = join(folder, 'stdin');
    renameSync(this.#path!, path);
    this.#path = path;
  }

  /** Removes its name: a process that is killed leaves nothing. Both ends stay open. */
  unlink(): void {
    if (this.#path !== undefined) removeIfPossible(this.#path);
    this.#path = undefined;
  }

  /** The tool was started with this standard input. */
  releaseReadEnd(): void {
    if (this.#readFd !== -1) closeSync(this.#readFd);
    this.#readFd = -1;
  }

  /** For another start of the tool. */
  openReadEnd(): void {
    if (this.#readFd === -1) this.#readFd = openSync(this.#path!, constants.O_RDONLY);
  }

  write(line: string): void {
    if (this.#writeFd === -1 || this.#endsWhenSent) return;
    const bytes = Buffer.from(`${line}\n`);
    if (this.#pendingBytes + bytes.length > MAX_PENDING_BYTES) return;
    this.#pending.push(bytes);
    this.#pendingBytes += bytes.length;
    if (this.#timer === undefined) this.#send(FIRST_PAUSE_MS);
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

  /** Closes the pipe once everything is sent: the tool reads the end of its input after the data in the pipe. */
  end(): void {
    this.#endsWhenSent = true;
    if (this.#pending.length === 0) this.#close();
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.releaseReadEnd();
    this.#close();
    this.unlink();
  }

  /** Sends what is pending; what does not fit now is tried again after a pause, which doubles while the tool reads nothing. */
  #send(pauseMs: number): void {
    this.#timer = undefined;
    for (let first = this.#pending[0]; first !== undefined; first = this.#pending[0]) {
      const count = this.offer(first, 0);
      this.#pendingBytes -= count;
      if (count < first.length) {
        this.#pending[0] = first.subarray(count);
        const nextMs = count > 0 ? FIRST_PAUSE_MS : Math.min(pauseMs * 2, MAX_PAUSE_MS);
        this.#timer = setTimeout(() => this.#send(nextMs), nextMs);
        return;
      }
      this.#pending.shift();
    }
    if (this.#endsWhenSent) this.#close();
  }

  #close(): void {
    if (this.#writeFd === -1) return;
    closeSync(this.#writeFd);
    this.#writeFd = -1;
  }
}
