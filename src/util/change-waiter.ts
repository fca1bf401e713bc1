import { type FSWatcher, watch } from 'node:fs';
import { errorCode } from './error-code.ts';

/** Bun may report two quick changes as one, before the second has happened. */
const SECOND_LOOK_MS = 20;

/** How often a change is looked for that is not watched yet. */
const YOUNG_POLL_MS = 10;

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
  /** Until when the path is not watched. */
  #young: { path: string; untilMs: number } | undefined;

  /** `afterMs`: a path is watched from then on, and polled before: to watch what ends at once costs more than that. */
  constructor(
    watched: string | ChangeSource | undefined,
    pollMs: number,
    { signal, afterMs }: { signal?: AbortSignal | undefined; afterMs?: number | undefined } = {},
  ) {
    this.#signal = signal;
    this.#pollMs = pollMs;
    this.#isEarly = typeof watched === 'string';
    if (typeof watched !== 'string') watched?.(() => this.notify());
    else if (afterMs === undefined) this.#watch(watched);
    else this.#young = { path: watched, untilMs: performance.now() + afterMs };
  }

  #watch(path: string): void {
    try {
      this.#watcher = watch(path, () => this.notify());
    } catch (error) {
      // Without a watch (too many watches, or a file system without support) only the timer works.
      if (errorCode(error) === 'ENOENT') throw error;
    }
  }

  /** Whether the path is not watched yet. */
  #isYoung(): boolean {
    const young = this.#young;
    if (young === undefined) return false;
    if (performance.now() < young.untilMs) return true;
    this.#young = undefined;
    try {
      this.#watch(young.path);
    } catch {
      // It was removed since: only the timer works.
    }
    // For what has changed until now.
    this.#changed = true;
    return false;
  }

  /** Resolves at the next change since the last call, at an abort, or after the poll interval or a shorter time. */
  async change(atMostMs = this.#pollMs): Promise<void> {
    const isEarly = this.#wasReported && this.#isEarly;
    const limitMs = this.#isYoung() ? YOUNG_POLL_MS : isEarly ? SECOND_LOOK_MS : this.#pollMs;
    if (!this.#changed && !this.#signal?.aborted) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, Math.min(atMostMs, limitMs));
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#signal?.addEventListener('abort', this.#wake, { once: true });
      await promise;
      this.#signal?.removeEventListener('abort', this.#wake);
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
