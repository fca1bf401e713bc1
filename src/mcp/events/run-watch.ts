import type { AcorApp } from '../../operations/acor-app.ts';
import { watchProjectRuns } from '../../operations/project/project-stamp.ts';

/** Changes that follow each other in less time are reported together. */
const SETTLE_MS = 200;

/** The changes of the runs of a project, for one reader. */
export interface RunChangeSignal extends AsyncDisposable {
  /** Waits for the next change; false when `timeoutMs` has passed, or the reader has gone. */
  next(timeoutMs: number): Promise<boolean>;
  /** Lets the reader look as if something had changed. */
  wake(): void;
}

/** Wakes those that wait for changes of runs. It watches the runs only while there is a reader. */
export class RunWatch {
  readonly #readers = new Set<() => void>();
  #stop: Promise<() => void> | undefined;

  async changes(app: AcorApp, signal: AbortSignal): Promise<RunChangeSignal> {
    let isChanged = false;
    let wake = () => {};
    const onChange = () => {
      isChanged = true;
      wake();
    };
    this.#readers.add(onChange);
    const all = () => {
      for (const reader of this.#readers) reader();
    };
    this.#stop ??= watchProjectRuns(app, all, all);
    await this.#stop;
    return {
      wake: onChange,
      async next(timeoutMs) {
        if (!isChanged) await pause(timeoutMs, signal, (resolve) => (wake = resolve));
        if (!isChanged) return false;
        await pause(SETTLE_MS, signal);
        isChanged = false;
        return !signal.aborted;
      },
      [Symbol.asyncDispose]: async () => {
        this.#readers.delete(onChange);
        if (this.#readers.size > 0) return;
        const stop = this.#stop;
        this.#stop = undefined;
        (await stop)?.();
      },
    };
  }
}

/** Waits for a time, for the signal, or until the function that `onStart` gets is called. */
function pause(ms: number, signal: AbortSignal, onStart?: (wake: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
    onStart?.(done);
    if (signal.aborted) done();
  });
}
