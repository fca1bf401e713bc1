import { resolve } from 'node:path';
import type { FunctionTool } from './agent-tools.ts';
import type { OperationTypes } from './client/operation-types.ts';
import type { PreparedAnswer } from './core/ports/run-launcher.ts';
import { type Project, ProjectCache } from './core/project/open-project.ts';
import { runnerServices } from './core/project/runner-services.ts';
import { jsonWords } from './core/registry/json-words.ts';
import type { ToolEntry } from './core/registry/tool-entry.ts';
import type { AnswerHandler } from './core/run/answers/question.ts';
import { jsonAnswer } from './core/run/answers/question.ts';
import { findOpenQuestion, submitAnswer } from './core/run/answers/submit-answer.ts';
import type { RunRequest } from './core/run/run-request.ts';
import { startRun } from './core/run/start-run.ts';
import type { AcorApp } from './operations/acor-app.ts';
import { callFromProgram } from './operations/call-from-program.ts';
import { commandOf } from './operations/command-forms.ts';
import {
  type AcorOptions,
  type AnswerOptions,
  type CallOptions,
  checkCall,
  type ExecOptions,
  type FunctionToolsOptions,
  type RunArguments,
  type RunOptions,
  type TaskOptions,
} from './operations/library-options.ts';
import { requirePersonFor } from './operations/needs-person.ts';
import { inWordsOf } from './operations/own-words.ts';
import { refuseAborted } from './operations/refuse-aborted.ts';
import { authorOf } from './operations/run/author-of-answer.ts';
import { lastRun } from './operations/run/last-run.ts';
import { AcorError } from './protocol/acor-error.ts';
import type { NextStep } from './protocol/next-steps.ts';
import { runName } from './protocol/run.ts';
import { RunningTool, type StartedRun } from './running-tool.ts';
import { problemOfNode } from './util/least-node.ts';

/** The answer of an operation. */
export interface OperationAnswer<Data> {
  data: Data;
  meta: {
    /** The number of elements of the list in this answer, and of all. */
    count?: number;
    total?: number;
    hasMore?: boolean;
    /** What the reader of the data should know. */
    warnings?: readonly string[];
    /** What leads on. */
    next?: readonly NextStep[];
  };
}

/** The input may be left out where every field of it may. */
type CallArguments<Input> =
  Record<string, never> extends Input
    ? [input?: Input, options?: CallOptions]
    : [input: Input, options?: CallOptions];

/** Operations whose `args` may be an object of declared inputs, too. */
const TAKES_INPUTS = ['run.start', 'workflow.run', 'policy.check', 'schedule.add', 'schedule.watch'] as const;

type TakesInputs = (typeof TAKES_INPUTS)[number];

type InputOf<Name extends keyof OperationTypes> = Name extends TakesInputs
  ? Omit<OperationTypes[Name]['input'], 'args'> & { args?: RunArguments | undefined }
  : OperationTypes[Name]['input'];

/** What to run. */
type Call = Pick<RunRequest, 'kind' | 'tool' | 'args'>;

/** ACOR as a library: the project's tools, with the same limits and the same store as on the command line. */
export class Acor {
  readonly #options: Required<Pick<AcorOptions, 'cwd' | 'env'>> & AcorOptions;
  readonly #projects = new ProjectCache();
  readonly #warned = new Set<string>();

  constructor(options: AcorOptions = {}) {
    refuseOldNode();
    checkCall('new Acor', {}, options);
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
  async call<Name extends keyof OperationTypes>(
    operation: Name,
    ...[input, options = {}]: CallArguments<InputOf<Name>>
  ): Promise<OperationAnswer<OperationTypes[Name]['data']>> {
    checkCall('call', { operation, input }, options);
    const { cwd, env, config } = this.#options;
    const place = { cwd, env, config, projects: this.#projects, note: (line: string) => this.#warn(line) };
    const called = isInputs(operation, input?.['args' as never])
      ? callFromProgram(place, operation, await this.#inWords({ ...input }), options).catch(throwInInputs)
      : callFromProgram(place, operation, { ...input }, options);
    return called.catch(throwWithOptions) as Promise<OperationAnswer<OperationTypes[Name]['data']>>;
  }

  /**
   * Runs a tool, or a script by its path: `./report.sh`. Await the result for its outcome, iterate over it for its events, or both. Throws an AcorError when
   * the run does not start. Every outcome of a started run, including a failure, is a value.
   */
  run(tool: string, args: RunArguments = [], options: RunOptions = {}): RunningTool {
    const call = async ({ registry }: Project): Promise<Call> => {
      checkCall('run', { tool, args }, options);
      const { calledName } = await import('./operations/acor-app.ts');
      const name = calledName(tool, this.#options.cwd);
      if (!isWords(args) && Object.keys(args).length > 0) refuseInputsOf(await registry.find(name));
      return { kind: 'tool', tool: name, args: wordsOf(args) };
    };
    const started = this.#start(call, options);
    return new RunningTool(Array.isArray(args) ? started : started.catch(throwInInputs), options);
  }

  /** Runs any program with the sandbox, limits and record of a tool. It may do what the arguments and the options grant. */
  exec(program: string, args: readonly string[] = [], options: ExecOptions = {}): RunningTool {
    const call = async (): Promise<Call> => {
      checkCall('exec', { program, args }, options);
      const { execCall } = await import('./operations/run/exec-call.ts');
      const { read = [], write = [], net = [], cmd = [] } = options;
      return { kind: 'tool', ...execCall(program, args, { read, write, net, cmd }, this.#options.cwd) };
    };
    return new RunningTool(this.#start(call, options), options);
  }

  /** Runs a workflow of the project, by its name or the path of its file. */
  workflow(workflow: string, args: RunArguments = [], options: RunOptions = {}): RunningTool {
    const call = (): Call => {
      checkCall('workflow', { workflow, args }, options);
      return { kind: 'workflow', tool: runName('workflow', workflow), args: wordsOf(args) };
    };
    return new RunningTool(this.#start(call, options), options);
  }

  /**
   * Runs tools concurrently; each reads the records of the tool before it. A stage is a command line: a tool and its
   * arguments.
   */
  pipe(stages: readonly string[], options: RunOptions = {}): RunningTool {
    const call = async () => {
      checkCall('pipe', { stages }, options);
      const { callsOf, pipeCall } = await import('./core/workflow/pipe/pipe-call.ts');
      return pipeCall(callsOf(stages));
    };
    return new RunningTool(this.#start(call, options), options);
  }

  /** Runs a task with an agent; the same id continues the conversation. */
  task(taskId: string, description: string, options: TaskOptions = {}): RunningTool {
    const call = async ({ config, store, workspaces }: Project) => {
      checkCall('task', { taskId, description }, options);
      const { plan, executor } = options;
      const [{ taskCall }, { readTask, refuseWhileLive }] = await Promise.all([
        import('./core/task/task-call.ts'),
        import('./core/task/task-record.ts'),
      ]);
      await refuseWhileLive(store, readTask(workspaces.root, taskId));
      return taskCall({ taskId, description, plan, executor }, { config, cwd: this.#options.cwd });
    };
    return new RunningTool(this.#start(call, options), options);
  }

  /**
   * Answers a question of a run, by its id or `last`, whichever process supervises it; `question` is its action id, or its action. Resolves
   * after the answer is recorded. Rejects with E_RUN_NOT_FOUND, and with E_BAD_ANSWER when the answer is invalid (the
   * question stays open), when there is no such open question, or when another answer was faster.
   */
  async answer(run: string, question: string, value: unknown, options: AnswerOptions = {}): Promise<void> {
    checkCall('answer', { run, question }, options);
    const project = await this.#open();
    const { store, config } = project;
    const { reason } = options;
    const runId = run === 'last' ? await lastRun(project) : run;
    const app = await this.#app();
    await app.authorize({ name: 'run.answer', effect: 'writes' }, { run: runId });
    const open = await findOpenQuestion(store, runId, question);
    const { principal, env } = app;
    await requirePersonFor(open, runId, { person: null, principal, root: config.root, env });
    await submitAnswer(store, runId, open, {
      value,
      by: authorOf(app, options.by),
      source: 'library',
      reason,
    });
  }

  /**
   * The tools of the project as function tools for an agent framework: each has a JSON Schema, and an `execute` that
   * runs the tool. If one of them may ask a question, the list contains `acor_answer`, through which the model answers. With `limitS`, a call
   * whose run takes longer resolves with the state `running`, and the list contains `acor_wait`.
   */
  async functionTools(options: FunctionToolsOptions = {}): Promise<FunctionTool[]> {
    checkCall('functionTools', {}, options);
    const { limitS } = options;
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

  /** A run whose errors and hints name the options of this library. */
  #start(callOf: (project: Project) => Call | Promise<Call>, options: RunOptions): Promise<StartedRun> {
    return this.#startAsIs(callOf, options).then(withOptions, throwWithOptions);
  }

  async #startAsIs(
    callOf: (project: Project) => Call | Promise<Call>,
    options: RunOptions,
  ): Promise<StartedRun> {
    const { cwd, env } = this.#options;
    const project = await this.#open();
    const call = await callOf(project);
    const app = await this.#app(project);
    await app.authorize({ name: 'run.start', effect: 'writes' }, {});
    if (options.answers !== undefined || options.onQuestion !== undefined) await app.authorizeOwnAnswers();
    const { caller } = app;
    const services = await runnerServices(project, { env, adoptOrphans: false, projects: this.#projects });
    refuseAborted(options.signal);
    const run = await startRun(services, {
      ...call,
      cwd,
      env,
      ...(options.timeoutS !== undefined && { timeoutS: options.timeoutS }),
      ...(options.retries !== undefined && { retries: options.retries }),
      ...(caller !== undefined && { caller }),
      answers: preparedAnswers(options.answers, app),
      ...(options.onQuestion !== undefined && { onQuestion: answersOf(options.onQuestion, app) }),
      ...(options.idempotencyKey !== undefined && { idempotencyKey: options.idempotencyKey }),
    });
    // A run that cannot be cancelled continues, and its end reports the outcome.
    const cancel = () => void run.cancel(reasonOf(options.signal)).catch(() => {});
    if (options.signal?.aborted) cancel();
    options.signal?.addEventListener('abort', cancel, { once: true });
    void run.ended.catch(() => {}).then(() => options.signal?.removeEventListener('abort', cancel));
    return run;
  }

  /** The input of an operation with words in place of the object of a tool's inputs. */
  async #inWords(input: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>> {
    const { tool, args } = input as { tool?: unknown; args: Readonly<Record<string, unknown>> };
    if (typeof tool === 'string' && Object.keys(args).length > 0) {
      const { calledName } = await import('./operations/acor-app.ts');
      const { registry } = await this.#open();
      const found = await registry.find(calledName(tool, this.#options.cwd)).catch(() => undefined);
      // An unknown tool is for the operation to report.
      if (found !== undefined) refuseInputsOf(found);
    }
    return { ...input, args: wordsOf(args) };
  }

  /** This process as the caller of operations. */
  async #app(project?: Project): Promise<AcorApp> {
    const { AcorApp } = await import('./operations/acor-app.ts');
    const { cwd, env, config } = this.#options;
    return new AcorApp({
      routes: [],
      surface: 'library',
      cwd,
      env,
      config,
      projects: this.#projects,
      ...(project && { project }),
    });
  }

  /** Each call opens the project through the cache, so that it sees every change. */
  async #open(): Promise<Project> {
    const { cwd, env, config: overrides } = this.#options;
    const project = await this.#projects.open({ cwd, env, overrides, commandOf });
    if (!project.config.trust.isTrusted) {
      const { untrusted } = await import('./operations/project/untrusted.ts');
      this.#warn(`acor: ${untrusted(project.config, commandOf)}`);
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
  return isWords(args) ? [...args] : jsonWords(args);
}

function isInputs(operation: string, args: unknown): boolean {
  const isObject = typeof args === 'object' && args !== null && !Array.isArray(args);
  return isObject && (TAKES_INPUTS as readonly string[]).includes(operation);
}

/** A tool without declared inputs would take the words of the object for its own. */
function refuseInputsOf({ name, manifest }: ToolEntry): void {
  if (manifest.inputs !== undefined || manifest.input_schema !== undefined) return;
  throw new AcorError('E_USAGE', `'${name}' declares no inputs, so it takes words and no object`, {
    hint: `Pass its arguments as a list, such as ['--log', 'access.log'], or declare inputs in its manifest.`,
  });
}

function isWords(args: RunArguments): args is readonly string[] {
  return Array.isArray(args);
}

/** The answers of a program, by the name of its caller. */
function answersOf(onQuestion: NonNullable<RunOptions['onQuestion']>, { principal }: AcorApp): AnswerHandler {
  return async (question) => {
    const value = await onQuestion(question);
    return value === undefined ? undefined : { value, by: principal.name };
  };
}

function preparedAnswers(answers: RunOptions['answers'] = {}, { principal }: AcorApp): PreparedAnswer[] {
  return Object.entries(answers).map(([action, answer]) => ({
    action,
    answer: jsonAnswer(answer),
    by: principal.name,
    source: 'library',
  }));
}

function reasonOf(signal: AbortSignal | undefined): string {
  const reason: unknown = signal?.reason ?? 'aborted';
  return reason instanceof Error ? reason.message : String(reason);
}

/** An older Node.js would fail anywhere later, with an error of its own. */
function refuseOldNode(): void {
  const message = problemOfNode();
  if (message === undefined) return;
  throw new AcorError('E_RUNTIME_MISSING', message, {
    hint: 'Install a later Node.js, or run the program with Bun.',
  });
}

/** A caller that passed inputs as an object gets no words of a command line. */
async function throwInInputs(error: unknown): Promise<never> {
  if (!(error instanceof AcorError)) throw error;
  const { inInputs } = await import('./operations/tool/input-words.ts');
  throw reworded(error, inInputs(error));
}

/** A program has no flags: the error names its options. */
function throwWithOptions(error: unknown): never {
  if (!(error instanceof AcorError)) throw error;
  const { message, hint, details } = error;
  throw reworded(error, {
    message: inWordsOf('library', message),
    hint: hint && inWordsOf('library', hint),
    details,
  });
}

function reworded(
  { code, next, cause }: AcorError,
  { message, hint, details }: Pick<AcorError, 'message' | 'hint' | 'details'>,
): AcorError {
  return new AcorError(code, message, {
    cause,
    ...(hint !== undefined && { hint }),
    ...(details !== undefined && { details }),
    ...(next !== undefined && { next }),
  });
}

/** The message of a run is that of its tool. */
function withOptions(run: StartedRun): StartedRun {
  const ended = run.ended.then((summary) => ({
    ...summary,
    hint: summary.hint && inWordsOf('library', summary.hint),
    warnings: summary.warnings.map((each) => inWordsOf('library', each)),
  }));
  return { runId: run.runId, ended, cancel: (reason) => run.cancel(reason), follow: () => run.follow() };
}
