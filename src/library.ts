import { resolve } from 'node:path';
import type { FunctionTool } from './agent-tools.ts';
import type { OperationTypes } from './client/operation-types.ts';
import type { PreparedAnswer } from './core/ports/run-launcher.ts';
import { type Project, ProjectCache } from './core/project/open-project.ts';
import { runnerServices } from './core/project/runner-services.ts';
import { jsonAnswer, type Question } from './core/run/answers/question.ts';
import { findOpenQuestion, submitAnswer } from './core/run/answers/submit-answer.ts';
import type { RunRequest } from './core/run/run-request.ts';
import type { RunSummary } from './core/run/run-summary.ts';
import { startRun } from './core/run/start-run.ts';
import { eventsIn } from './core/store-files/follow.ts';
import type { AcorApp } from './operations/acor-app.ts';
import { callFromProgram } from './operations/call-from-program.ts';
import { commandOf } from './operations/command-forms.ts';
import { requirePersonFor } from './operations/needs-person.ts';
import { AcorError } from './protocol/acor-error.ts';
import type { RunEvent } from './protocol/index.ts';
import type { NextStep } from './protocol/next-steps.ts';
import { runName } from './protocol/run.ts';
import { userName } from './util/user-name.ts';

export interface AcorOptions {
  /** Where to search for the project. Relative path arguments start here. */
  cwd?: string;
  /** The environment whose listed variables the tools get. */
  env?: Readonly<Record<string, string | undefined>>;
  /** Configuration by dotted key, such as `{ 'environment.timeout_s': 60 }`; it wins over every file. */
  config?: Readonly<Record<string, unknown>>;
}

export interface RunOptions {
  /** Called with every event, in order. */
  onEvent?: (event: RunEvent) => void;
  /** Cancels the run in steps: cancel file, SIGTERM, SIGKILL. */
  signal?: AbortSignal;
  timeoutS?: number;
  retries?: number;
  /** Answers to questions that the tool may ask: by the question's action, or by its action id. */
  answers?: Readonly<Record<string, unknown>>;
  /**
   * Called when the tool asks a question that `answers` does not contain. The answer is what it returns or resolves to;
   * `undefined` leaves the question to others (`acor.answer`, the command line), and finally to its default or its
   * timeout. An invalid answer or a thrown error becomes a `runner_warning`, and the question stays open. Only the call
   * that starts the run is asked, not one that finds the run by its `idempotencyKey`.
   */
  onQuestion?: (question: Question) => unknown;
  /** Idempotency key: repeating the call with the same key returns the existing run. */
  idempotencyKey?: string;
}

export interface TaskOptions extends RunOptions {
  /** A file with the plan. */
  plan?: string;
  /** The executor, instead of the configured one. */
  executor?: string;
}

export interface AnswerOptions {
  /** The reason, which is recorded with the answer. */
  reason?: string;
  /** Who answers; defaults to the user of this process. */
  by?: string;
}

export interface CallOptions {
  /** Ends the wait for the answer. What the operation has started continues, as a run does without its reader. */
  signal?: AbortSignal;
  /** Called with each event of an operation that has events, such as `run.attach`. */
  onEvent?: (event: RunEvent) => void;
  /** Only these fields of the data, or of the elements of its list: `['run_id', 'state']`. */
  fields?: readonly string[];
  /** At most so many elements of the list, from `offset`. */
  limit?: number;
  offset?: number;
}

/** The answer of an operation. */
export interface OperationAnswer<Data> {
  data: Data;
  meta: {
    /** The number of elements of the list in this answer, and of all. */
    count?: number;
    total?: number;
    hasMore?: boolean;
    /** What leads on. */
    next?: readonly NextStep[];
  };
}

/** The input may be left out where every field of it may. */
type CallArguments<Input> =
  Record<string, never> extends Input
    ? [input?: Input, options?: CallOptions]
    : [input: Input, options?: CallOptions];

/** The words of a command line, or the declared inputs by their names. */
export type RunArguments = readonly string[] | Readonly<Record<string, unknown>>;

/** What to run. */
type Call = Pick<RunRequest, 'kind' | 'tool' | 'args'>;

/** ACOR as a library: the project's tools, with the same limits and the same store as on the command line. */
export class Acor {
  readonly #options: Required<Pick<AcorOptions, 'cwd' | 'env'>> & AcorOptions;
  readonly #projects = new ProjectCache();
  readonly #warned = new Set<string>();

  constructor(options: AcorOptions = {}) {
    this.#options = {
      ...options,
      cwd: resolve(options.cwd ?? process.cwd()),
      env: options.env ?? process.env,
    };
  }

  /**
   * Calls an operation of ACOR by its name, with the input and the answer of the command line and of MCP, for example
   * `acor.call('run.list', { state: 'failed' })`. Throws an AcorError with the code, the hint and the next steps of the failure.
   * `run`, `workflow`, `pipe` and `task` start runs in this process instead: their events and questions come to the caller.
   */
  call<Name extends keyof OperationTypes>(
    operation: Name,
    ...[input, options]: CallArguments<OperationTypes[Name]['input']>
  ): Promise<OperationAnswer<OperationTypes[Name]['data']>> {
    const { cwd, env, config } = this.#options;
    const place = { cwd, env, config, projects: this.#projects, note: (line: string) => this.#warn(line) };
    return callFromProgram(place, operation, { ...input }, options) as Promise<
      OperationAnswer<OperationTypes[Name]['data']>
    >;
  }

  /**
   * Runs a tool. Await the result for its outcome, iterate over it for its events, or both. Throws an AcorError when
   * the run does not start. Every outcome of a started run, including a failure, is a value.
   */
  run(tool: string, args: RunArguments = [], options: RunOptions = {}): RunningTool {
    const call: Call = { kind: 'tool', tool, args: wordsOf(args) };
    const started = this.#start(async () => call, options);
    return new RunningTool(Array.isArray(args) ? started : started.catch(throwInInputs), options);
  }

  /** Runs a workflow of the project, by its name or the path of its file. */
  workflow(workflow: string, args: RunArguments = [], options: RunOptions = {}): RunningTool {
    const call: Call = { kind: 'workflow', tool: runName('workflow', workflow), args: wordsOf(args) };
    return new RunningTool(
      this.#start(async () => call, options),
      options,
    );
  }

  /**
   * Runs tools concurrently; each reads the records of the tool before it. A stage is a command line: a tool and its
   * arguments.
   */
  pipe(stages: readonly string[], options: RunOptions = {}): RunningTool {
    const call = async () => {
      const { callsOf, pipeCall } = await import('./core/workflow/pipe/pipe-call.ts');
      return pipeCall(callsOf(stages));
    };
    return new RunningTool(this.#start(call, options), options);
  }

  /** Runs a task with an agent; the same id continues the conversation. */
  task(taskId: string, description: string, options: TaskOptions = {}): RunningTool {
    const { plan, executor } = options;
    const call = async ({ config, store, workspaces }: Project) => {
      const [{ taskCall }, { readTask, refuseWhileLive }] = await Promise.all([
        import('./core/task/task-call.ts'),
        import('./core/task/task-record.ts'),
      ]);
      await refuseWhileLive(store, readTask(workspaces.root, taskId));
      const place = { settings: config.config.task, cwd: this.#options.cwd };
      return taskCall({ taskId, description, plan, executor }, place);
    };
    return new RunningTool(this.#start(call, options), options);
  }

  /**
   * Answers a question of a run, whichever process supervises it; `question` is its action id, or its action. Resolves
   * after the answer is recorded. Rejects with E_RUN_NOT_FOUND, and with E_BAD_ANSWER when the answer is invalid (the
   * question stays open), when there is no such open question, or when another answer was faster.
   */
  async answer(runId: string, question: string, value: unknown, options: AnswerOptions = {}): Promise<void> {
    const { store, config } = await this.#open();
    const { by = userName(), reason } = options;
    await (await this.#app()).authorize({ name: 'run.answer', effect: 'writes' }, { run: runId });
    const open = await findOpenQuestion(store, runId, question);
    await requirePersonFor(open, runId, { person: null, root: config.root, env: this.#options.env });
    await submitAnswer(store, runId, open, { value, by, source: 'library', reason });
  }

  /**
   * The tools of the project as function tools for an agent framework: each has a JSON Schema, and an `execute` that
   * runs the tool. If one of them may ask a question, the list contains `acor_answer`, through which the model answers. With `limitS`, a call
   * whose run takes longer resolves with the state `running`, and the list contains `acor_wait`.
   */
  async functionTools({ limitS }: { limitS?: number | undefined } = {}): Promise<FunctionTool[]> {
    const [{ functionToolsOf }, { lacksApproval }] = await Promise.all([
      import('./agent-tools.ts'),
      import('./operations/tool/offered-tools.ts'),
    ]);
    const project = await this.#open();
    const tools = await project.registry.list();
    const refused = await Promise.all(
      tools.map((tool) => lacksApproval(project, this.#options, tool).catch(() => true)),
    );
    return functionToolsOf({
      tools: tools.filter((_, at) => !refused[at]),
      run: (tool, args, options) => this.run(tool, args, options),
      answer: (runId, question, value) => this.answer(runId, question, value, { by: 'model' }),
      limitS,
    });
  }

  async #start(callOf: (project: Project) => Promise<Call>, options: RunOptions): Promise<StartedRun> {
    const { cwd, env } = this.#options;
    const project = await this.#open();
    const app = await this.#app();
    await app.authorize({ name: 'run.start', effect: 'writes' }, {});
    if (options.answers !== undefined || options.onQuestion !== undefined) await app.authorizeOwnAnswers();
    const { caller } = app;
    const services = await runnerServices(project, { env, adoptOrphans: false });
    const run = await startRun(services, {
      ...(await callOf(project)),
      cwd,
      env,
      ...(options.timeoutS !== undefined && { timeoutS: options.timeoutS }),
      ...(options.retries !== undefined && { retries: options.retries }),
      ...(caller !== undefined && { caller }),
      answers: preparedAnswers(options.answers),
      ...(options.onQuestion !== undefined && { onQuestion: options.onQuestion }),
      ...(options.idempotencyKey !== undefined && { idempotencyKey: options.idempotencyKey }),
    });
    // A run that cannot be cancelled continues, and its end reports the outcome.
    const cancel = () => void run.cancel(reasonOf(options.signal)).catch(() => {});
    if (options.signal?.aborted) cancel();
    options.signal?.addEventListener('abort', cancel, { once: true });
    void run.ended.catch(() => {}).then(() => options.signal?.removeEventListener('abort', cancel));
    return run;
  }

  /** This process as the caller of operations. */
  async #app(): Promise<AcorApp> {
    const { AcorApp } = await import('./operations/acor-app.ts');
    const { cwd, env, config } = this.#options;
    return new AcorApp({ routes: [], surface: 'library', cwd, env, config, projects: this.#projects });
  }

  /** Each call opens the project through the cache, so that it sees every change. */
  async #open(): Promise<Project> {
    const { cwd, env, config: overrides } = this.#options;
    const project = await this.#projects.open({ cwd, env, overrides, commandOf });
    if (!project.config.trust.isTrusted) {
      const { untrusted } = await import('./operations/project/untrusted.ts');
      this.#warn(`acor: ${untrusted(project.config)}`);
    }
    return project;
  }

  /** Once each, as a warning of the process. */
  #warn(line: string): void {
    if (this.#warned.has(line)) return;
    this.#warned.add(line);
    process.emitWarning(line);
  }
}

/** The command line takes the inputs as an object, too. */
function wordsOf(args: RunArguments): string[] {
  return isWords(args) ? [...args] : ['--input-json', JSON.stringify(args)];
}

function isWords(args: RunArguments): args is readonly string[] {
  return Array.isArray(args);
}

function preparedAnswers(answers: RunOptions['answers'] = {}): PreparedAnswer[] {
  return Object.entries(answers).map(([action, answer]) => ({
    action,
    answer: jsonAnswer(answer),
    by: 'caller',
    source: 'library',
  }));
}

function reasonOf(signal: AbortSignal | undefined): string {
  const reason: unknown = signal?.reason ?? 'aborted';
  return reason instanceof Error ? reason.message : String(reason);
}

/** What a `RunningTool` needs of a run. The declarations of this module must not lead to those of the runner. */
interface StartedRun {
  readonly runId: string;
  readonly ended: Promise<RunSummary>;
  cancel(reason: string): Promise<void>;
  follow(): AsyncIterable<Uint8Array>;
}

/** A requested run: a promise of its outcome, and an iterable of all its events. */
export class RunningTool implements PromiseLike<RunSummary>, AsyncIterable<RunEvent> {
  readonly #started: Promise<StartedRun>;
  readonly #ended: Promise<RunSummary>;

  constructor(started: Promise<StartedRun>, { onEvent }: Pick<RunOptions, 'onEvent'>) {
    this.#started = started;
    const listening = onEvent === undefined ? undefined : this.#emit(onEvent);
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

/** A caller that passed inputs as an object gets no words of a command line. */
async function throwInInputs(error: unknown): Promise<never> {
  if (!(error instanceof AcorError)) throw error;
  const { inInputs } = await import('./operations/tool/input-words.ts');
  const { code, next, cause } = error;
  const { message, hint, details } = inInputs(error);
  throw new AcorError(code, message, {
    cause,
    ...(hint !== undefined && { hint }),
    ...(details !== undefined && { details }),
    ...(next !== undefined && { next }),
  });
}
