import type { RunSummary } from './core/run/run-summary.ts';
import { eventsIn } from './core/store-files/follow.ts';
import type { RunOptions } from './operations/library-options.ts';
import type { RunEvent } from './protocol/index.ts';

/** What a `RunningTool` needs of a run. The declarations of this module must not lead to those of the runner. */
export interface StartedRun {
  readonly runId: string;
  readonly ended: Promise<RunSummary>;
  cancel(reason: string): Promise<void>;
  follow(): AsyncIterable<Uint8Array>;
}

/** A requested run: a promise of its outcome, and an iterable of all its events. */
export class RunningTool implements PromiseLike<RunSummary>, AsyncIterable<RunEvent> {
  readonly #started: Promise<StartedRun>;
  readonly #ended: Promise<RunSummary>;

  constructor(started: Promise<StartedRun>, options: Pick<RunOptions, 'onEvent'> | null) {
    this.#started = started;
    // A start with options that are no object rejects.
    const listening = options?.onEvent === undefined ? undefined : this.#emit(options.onEvent);
    // An exception of a listener rejects the promise of the run.
    listening?.catch(() => {});
    this.#ended = started.then(async (run) => {
      const summary = await run.ended;
      await listening;
      return summary;
    });
  }

  /** The id, available after the run has started. */
  get runId(): Promise<string> {
    this.#isHeard();
    return this.#started.then(({ runId }) => runId);
  }

  async cancel(reason = 'cancelled'): Promise<void> {
    this.#isHeard();
    await (await this.#started).cancel(reason);
  }

  // biome-ignore lint/suspicious/noThenProperty: awaiting a run is how its ending is had
  then<A = RunSummary, B = never>(
    onFulfilled?: ((summary: RunSummary) => A | PromiseLike<A>) | null,
    onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#ended.then(onFulfilled, onRejected);
  }

  catch<B = never>(onRejected?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<RunSummary | B> {
    return this.#ended.catch(onRejected);
  }

  finally(onFinally?: (() => void) | null): Promise<RunSummary> {
    return this.#ended.finally(onFinally);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RunEvent> {
    this.#isHeard();
    yield* this.#events();
  }

  /** The caller gets an error of the start from the call that it made; without any, it is an unhandled rejection. */
  #isHeard(): void {
    this.#ended.catch(() => {});
  }

  async *#events(): AsyncGenerator<RunEvent> {
    const run = await this.#started;
    for await (const lines of run.follow()) for (const event of eventsIn(lines)) yield event as RunEvent;
  }

  async #emit(onEvent: (event: RunEvent) => void): Promise<void> {
    for await (const event of this.#events()) onEvent(event);
  }
}
