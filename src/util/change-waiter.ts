import { type FSWatcher, watch } from 'node:fs';
import { errorCode } from './error-code.ts';

/** Bun tells of a change that follows upon another one at once as if both were one, and may so do before the second. */
const SECOND_LOOK_MS = 20;

/** Waits until a file or a folder changes, looking again every `pollMs` where the system does not tell. */
export class ChangeWaiter {
  readonly #signal: AbortSignal | undefined;
  readonly #pollMs: number;
  #watcher: FSWatcher | undefined;
  #changed = false;
  /** Whether the last wait was ended by a change. */
  #wasReported = false;
  #wake: (() => void) | undefined;

  constructor(path: string, pollMs: number, signal?: AbortSignal) {
    this.#signal = signal;
    this.#pollMs = pollMs;
    try {
      this.#watcher = watch(path, () => this.#notify());
    } catch (error) {
      // Without a watch (too many of them, or a file system that has none) the timer alone does it.
      if (errorCode(error) === 'ENOENT') throw error;
    }
  }

  /** Settles at the next change since the last call, at an abort, or when the time is up: the poll's, or a shorter one. */
  async change(atMostMs = this.#pollMs): Promise<void> {
    const limitMs = this.#wasReported ? SECOND_LOOK_MS : this.#pollMs;
    if (!this.#changed && !this.#signal?.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(atMostMs, limitMs));
        this.#wake = () => {
          clearTimeout(timer);
          resolve();
        };
        this.#signal?.addEventListener('abort', this.#wake, { once: true });
      });
      if (this.#wake) this.#signal?.removeEventListener('abort', this.#wake);
      this.#wake = undefined;
    }
    this.#wasReported = this.#changed;
    this.#changed = false;
  }

  close(): void {
    this.#watcher?.close();
  }

  #notify(): void {
    this.#changed = true;
    this.#wake?.();
  }
}
