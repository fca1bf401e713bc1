import { resolve } from 'node:path';
import type { FunctionTool } from './agent-tools.ts';
import { loadAdapter } from './core/adapters/index.ts';
import { type LoadedConfig, loadConfig } from './core/config/load.ts';
import type { Plugins } from './core/plugins/plugins.ts';
import type { RunQueue } from './core/ports/run-queue.ts';
import type { RunStore } from './core/ports/run-store.ts';
import { loadRuntime } from './core/process/runtime.ts';
import { Registry, type ToolEntry } from './core/registry/registry.ts';
import { jsonAnswer } from './core/run/answers/check-answer.ts';
import type { Question } from './core/run/answers/question.ts';
import type { PreparedAnswer } from './core/run/answers/questions.ts';
import { findOpenQuestion, submitAnswer } from './core/run/answers/submit-answer.ts';
import { endChildren } from './core/run/end-children.ts';
import { followToEnd } from './core/run/follow-to-end.ts';
import type { KnownRun } from './core/run/known-run.ts';
import { isLive } from './core/run/liveness.ts';
import { recoverRun } from './core/run/recover-lost-run.ts';
import type { Run } from './core/run/run.ts';
import type { RunSummary } from './core/run/run-summary.ts';
import { WORKFLOW_PREFIX } from './core/run/services.ts';
import { startRun } from './core/run/start-run.ts';
import { Workspaces } from './core/run/workspace.ts';
import { FileRunQueue } from './core/store-files/file-run-queue.ts';
import { FileRunStore } from './core/store-files/file-run-store.ts';
import { eventsIn } from './core/store-files/follow.ts';
import type { RunEvent } from './protocol/index.ts';
import type { RunRecord } from './protocol/run-record.ts';
import { userName } from './util/user-name.ts';

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
  /** Answers to questions that the tool may ask: by the question's action, or by its action id. */
  answers?: Readonly<Record<string, unknown>>;
  /**
   * Asked when the tool asks and `answers` has nothing that fits. What it returns, or its promise resolves to, is the answer;
   * `undefined` leaves the question to others (`acor.answer`, the command line) and in the end to its default or its
   * timeout. An answer that does not fit, and an error that is thrown, become a `runner_warning`; the question stays open.
   * Only the call that starts the run is asked, not one that finds it by its `idempotencyKey`.
   */
  onQuestion?: (question: Question) => unknown;
  /** Given again with the same call, it names the run that was started with it, instead of starting a second one. */
  idempotencyKey?: string;
}

export interface AnswerOptions {
  /** Why; it is recorded with the answer. */
  reason?: string;
  /** Who answers; left out, the user whose process this is. */
  by?: string;
}

/** ACOR as a library: the project's tools, run under the same limits and kept in the same store as from the command line. */
export class Acor {
  readonly #options: Required<Pick<AcorOptions, 'cwd' | 'env'>> & AcorOptions;
  #project:
    | Promise<{
        config: LoadedConfig;
        registry: Registry;
        store: RunStore;
        queue: RunQueue;
        workspaces: Workspaces;
        plugins: Plugins | undefined;
      }>
    | undefined;

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
    if (await isLive(store, runId)) {
      await store.control.requestCancel(runId, reason);
      for await (const _ of followToEnd(store, runId, { since: 0, recovers: true }));
    }
    // Those of a workflow that was killed live on until somebody goes on with it.
    if ((await store.read(runId)).tool.startsWith(WORKFLOW_PREFIX)) await endChildren(store, runId, reason);
    return recoverRun(store, runId);
  }

  /**
   * Answers a question of a run, whoever supervises it; `question` is its action id, or its action. When it resolves, the
   * answer is recorded. Rejects with E_RUN_NOT_FOUND, and with E_BAD_ANSWER when the answer does not fit (the question stays
   * open), when there is no such open question, or when somebody else was quicker.
   */
  async answer(runId: string, question: string, value: unknown, options: AnswerOptions = {}): Promise<void> {
    const { store } = await this.#open();
    const { by = userName(), reason } = options;
    const open = await findOpenQuestion(store, runId, question);
    await submitAnswer(store, runId, open, { value, by, source: 'library', reason });
  }

  /**
   * The tools of the project as function tools for an agent framework: a JSON Schema each, and an `execute` that runs the tool. Where one
   * of them may ask, `acor_answer` is among them, by which the model answers.
   */
  async functionTools(): Promise<FunctionTool[]> {
    const { functionToolsOf } = await import('./agent-tools.ts');
    return functionToolsOf({
      tools: await this.discover(),
      run: (tool, args, options) => this.run(tool, args, options),
      answer: (runId, question, value) => this.answer(runId, question, value, { by: 'model' }),
    });
  }

  async #start(tool: string, args: readonly string[], options: RunOptions): Promise<Run | KnownRun> {
    const project = await this.#open();
    const { cwd, env } = this.#options;
    const run = await startRun(
      { ...project, runtime: await loadRuntime(), adoptsOrphans: false, loadAdapter },
      {
        tool,
        args: [...args],
        cwd,
        env,
        ...(options.timeoutS !== undefined && { timeoutS: options.timeoutS }),
        ...(options.retries !== undefined && { retries: options.retries }),
        answers: preparedAnswers(options.answers),
        ...(options.onQuestion !== undefined && { onQuestion: options.onQuestion }),
        ...(options.idempotencyKey !== undefined && { idempotencyKey: options.idempotencyKey }),
      },
    );
    // A run that cannot be asked to end goes on, and its end says how it ended.
    const cancel = () => void run.cancel(String(options.signal?.reason ?? 'aborted')).catch(() => {});
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
    const plugins =
      config.config.plugins.length === 0
        ? undefined
        : await (await import('./core/plugins/plugins.ts')).Plugins.open(config, env);
    const runsDir = resolve(config.root, config.config.project.runs_dir);
    return {
      config,
      plugins,
      registry: Registry.open(config, plugins),
      store: new FileRunStore(runsDir),
      queue: new FileRunQueue(runsDir),
      workspaces: new Workspaces(runsDir),
    };
  }
}

function preparedAnswers(answers: RunOptions['answers'] = {}): PreparedAnswer[] {
  return Object.entries(answers).map(([action, answer]) => ({
    action,
    answer: jsonAnswer(answer),
    by: 'caller',
    source: 'library',
  }));
}

/** A run that was asked for: a promise of its ending, and an iterable of its events from the first one on. */
export class RunningTool implements PromiseLike<RunSummary>, AsyncIterable<RunEvent> {
  readonly #started: Promise<Run | KnownRun>;
  readonly #ended: Promise<RunSummary>;

  constructor(started: Promise<Run | KnownRun>, { onEvent }: Pick<RunOptions, 'onEvent'>) {
    this.#started = started;
    const told = onEvent === undefined ? undefined : this.#emit(onEvent);
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
    const run = await this.#started;
    for await (const lines of run.follow()) for (const event of eventsIn(lines)) yield event as RunEvent;
  }

  async #emit(onEvent: (event: RunEvent) => void): Promise<void> {
    for await (const event of this) onEvent(event);
  }
}
