import { resolve } from 'node:path';
import { type LoadedConfig, loadConfig } from './core/config/load.ts';
import { loadRuntime } from './core/process/runtime.ts';
import { Registry, type ToolEntry } from './core/registry/registry.ts';
import type { Run, RunSummary } from './core/runner/run.ts';
import { settleIfLost } from './core/runner/settle-lost.ts';
import { startRun } from './core/runner/start-run.ts';
import { requestCancel } from './core/storage/cancel-request.ts';
import { FileRunStore } from './core/storage/file-run-store.ts';
import { readEvents } from './core/storage/follow.ts';
import { isLive } from './core/storage/lost-runs.ts';
import type { RunStore } from './core/storage/run-store.ts';
import type { RunEvent } from './protocol/index.ts';
import type { RunRecord } from './protocol/run-record.ts';

export interface AcorOptions {
  /** Where the project is looked for, and what path arguments are resolved against. */
  cwd?: string;
  /** The environment from which listed variables reach the tools. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Configuration by dotted key, such as `{ 'environment.timeout_s': 60 }`; it wins over every file. */
  config?: Readonly<Record<string, unknown>>;
}

export interface RunOptions {
  /** Called with every event, in order. */
  onEvent?: (event: RunEvent) => void;
  /** Cancels the run, by the ladder: cancel file, SIGTERM, SIGKILL. */
  signal?: AbortSignal;
  timeoutS?: number;
  retries?: number;
}

/** ACOR as a library: the project's tools, run under the same limits and kept in the same store as from the command line. */
export class Acor {
  readonly #options: Required<Pick<AcorOptions, 'cwd' | 'env'>> & AcorOptions;
  #project: Promise<{ config: LoadedConfig; registry: Registry; store: RunStore }> | undefined;

  constructor(options: AcorOptions = {}) {
    this.#options = {
      ...options,
      cwd: resolve(options.cwd ?? process.cwd()),
      env: options.env ?? process.env,
    };
  }

  /** The tools of the project, broken ones included (`problems` says what is wrong with them). */
  async discover(): Promise<ToolEntry[]> {
    return (await this.#open()).registry.list();
  }

  /** One tool. Throws E_TOOL_NOT_FOUND or E_MANIFEST_INVALID. */
  async describe(tool: string): Promise<ToolEntry> {
    return (await this.#open()).registry.find(tool);
  }

  /**
   * Runs a tool. Await it for how it ended, or iterate over its events; both may be done. What keeps a run from starting
   * is thrown (AcorError); every ending of a run that has started, also a failure, is a value.
   */
  run(tool: string, args: readonly string[] = [], options: RunOptions = {}): RunningTool {
    return new RunningTool(this.#start(tool, args, options), options);
  }

  /** Asks a run to end, whoever supervises it, and returns its record once it has. */
  async cancel(runId: string, reason = 'cancelled'): Promise<RunRecord> {
    const { store } = await this.#open();
    if (isLive(store.read(runId))) {
      requestCancel(store.layout(runId), reason);
      const isAbandoned = () => !isLive(store.read(runId));
      for await (const _ of readEvents(store.layout(runId).events, { wait: true, isAbandoned }));
    }
    return settleIfLost(store, store.read(runId));
  }

  async #start(tool: string, args: readonly string[], options: RunOptions): Promise<Run> {
    const project = await this.#open();
    const { cwd, env } = this.#options;
    const run = await startRun(
      { ...project, runtime: await loadRuntime(), adoptsOrphans: false },
      {
        tool,
        args: [...args],
        cwd,
        env,
        ...(options.timeoutS !== undefined && { timeoutS: options.timeoutS }),
        ...(options.retries !== undefined && { retries: options.retries }),
      },
    );
    const cancel = () => run.cancel(String(options.signal?.reason ?? 'aborted'));
    if (options.signal?.aborted) cancel();
    options.signal?.addEventListener('abort', cancel, { once: true });
    void run.ended.catch(() => {}).then(() => options.signal?.removeEventListener('abort', cancel));
    return run;
  }

  #open() {
    this.#project ??= this.#load();
    return this.#project;
  }

  async #load() {
    const { cwd, env, config: overrides } = this.#options;
    const config = await loadConfig({ cwd, env, ...(overrides && { overrides }) });
    const store = new FileRunStore(resolve(config.root, config.config.project.runs_dir));
    return { config, registry: Registry.open(config), store };
  }
}

/** A run that was asked for: a promise of its ending, and an iterable of its events from the first one on. */
export class RunningTool implements PromiseLike<RunSummary>, AsyncIterable<RunEvent> {
  readonly #started: Promise<Run>;
  readonly #ended: Promise<RunSummary>;

  constructor(started: Promise<Run>, { onEvent }: Pick<RunOptions, 'onEvent'>) {
    this.#started = started;
    const told = onEvent === undefined ? undefined : this.#tell(onEvent);
    // What a listener throws is met by whoever awaits the run, not before that.
    told?.catch(() => {});
    this.#ended = started.then(async (run) => {
      const summary = await run.ended;
      await told;
      return summary;
    });
    // Whoever only iterates meets the error there.
    this.#ended.catch(() => {});
  }

  /** The id, as soon as the run has started. */
  get runId(): Promise<string> {
    return this.#started.then(({ runId }) => runId);
  }

  async cancel(reason = 'cancelled'): Promise<void> {
    (await this.#started).cancel(reason);
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
    const run = await this.#started;
    const { ended } = run;
    for await (const event of readEvents(run.layout.events, { wait: true, ended })) yield event as RunEvent;
  }

  async #tell(onEvent: (event: RunEvent) => void): Promise<void> {
    for await (const event of this) onEvent(event);
  }
}
