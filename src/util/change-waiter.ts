import { type FSWatcher, watch } from 'node:fs';
import { errorCode } from './error-code.ts';

/** Bun may report two quick changes as one, before the second has happened. */
const SECOND_LOOK_MS = 20;

/** Calls `changed` at each change. */
export type ChangeSource = (changed: () => void) => void;

/**
 * Waits until a file or a folder changes, or something that reports its changes itself. Where the system reports no changes, and without a
 * path, it polls every `pollMs`.
 */
export class ChangeWaiter {
  readonly #signal: AbortSignal | undefined;
  readonly #pollMs: number;
  #watcher: FSWatcher | undefined;
  #changed = false;
  /** Whether a change ended the last wait. */
  #wasReported = false;
  #wake: (() => void) | undefined;
  /** Whether a change can be reported before it has happened. */
  readonly #isEarly: boolean;

  constructor(watched: string | ChangeSource | undefined, pollMs: number, signal?: AbortSignal) {
    this.#signal = signal;
    this.#pollMs = pollMs;
    this.#isEarly = typeof watched === 'string';
    const notify = () => this.notify();
    try {
      if (typeof watched === 'string') this.#watcher = watch(watched, notify);
      else watched?.(notify);
    } catch (error) {
      // Without a watch (too many watches, or a file system without support) only the timer works.
      if (errorCode(error) === 'ENOENT') throw error;
    }
  }

  /** Resolves at the next change since the last call, at an abort, or after the poll interval or a shorter time. */
  async change(atMostMs = this.#pollMs): Promise<void> {
    const limitMs = this.#wasReported && this.#isEarly ? SECOND_LOOK_MS : this.#pollMs;
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

  /** Ends the wait, or the next one, as a change does. */
  notify(): void {
    this.#changed = true;
    this.#wake?.();
  }
}
