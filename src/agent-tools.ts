import type { ToolEntry } from './core/registry/tool-entry.ts';
import { inputSchemaOf, type ObjectSchema, wordsFor } from './core/registry/tool-schema.ts';
import { answerSteps, type Question } from './core/run/answers/question.ts';
import type { RunSummary } from './core/run/run-summary.ts';
import { commandOf } from './operations/command-forms.ts';
import { checkCall, type ExecuteOptions } from './operations/library-options.ts';
import { refuseAborted } from './operations/refuse-aborted.ts';
import { inInputs } from './operations/tool/input-words.ts';
import { AcorError } from './protocol/acor-error.ts';
import { errorInfo } from './protocol/error-codes.ts';
import type { NextStep } from './protocol/next-steps.ts';

/**
 * A tool of the project in the format of TypeScript agent frameworks: a name, a JSON Schema, and an `execute` function.
 */
export interface FunctionTool {
  /** Letters, digits, `_` and `-`, at most 64. */
  name: string;
  description: string;
  /** A JSON Schema (draft 2020-12) of the arguments. */
  parameters: ObjectSchema;
  /**
   * Executes a call as an ordinary run. It always resolves to a result for the model: whatever prevents the start of
   * the run (invalid arguments, a policy, a missing runtime) becomes its `error`. `signal` cancels the run.
   */
  execute(args: Readonly<Record<string, unknown>>, options?: ExecuteOptions): Promise<FunctionResult>;
}

/** The result of a call. In the state `waiting_ai` the run waits for an answer, and `acor_answer` continues it; in the state `running`, `acor_wait` waits for it. */
export interface FunctionResult {
  state: 'completed' | 'failed' | 'cancelled' | 'waiting_ai' | 'running' | 'refused';
  run_id?: string;
  /** The `data` of the tool's result. */
  data?: unknown;
  artifacts?: { path: string; size: number; sha256: string; media_type: string }[];
  question?: Pick<Question, 'msg' | 'context' | 'options' | 'schema' | 'audience'> & {
    action_id: string;
    action: string;
    timeout_s?: number;
    default?: unknown;
  };
  error?: { code: string; message: string; hint: string; retryable: boolean };
  /** What a person decides about changes that the run keeps back, or that can be undone, with the commands. */
  note?: string;
  /** The calls that answer a question, one for each known answer, or wait for the run. */
  next?: string[];
}

/** The dependencies of the function tools. */
export interface FunctionToolDoor {
  tools: readonly ToolEntry[];
  run(
    tool: string,
    args: readonly string[],
    options: { onQuestion: (question: Question) => unknown; signal?: AbortSignal },
  ): PromiseLike<RunSummary> & { readonly runId: Promise<string> };
  answer(runId: string, question: string, value: unknown): Promise<void>;
  /** A call whose run takes longer resolves, and the run continues. */
  limitS: number | undefined;
}

/** The function that answers the questions of the other functions' runs. */
const ANSWER = 'acor_answer';
const WAIT = 'acor_wait';
const MAX_DESCRIPTION_CHARS = 1024;

/** Creates function tools for all usable tools, and `acor_answer` if one of them may ask a question. */
export function functionToolsOf(door: FunctionToolDoor): FunctionTool[] {
  const usable = door.tools.filter(({ problems }) => problems.length === 0);
  const calls = new Map<string, Call>();
  const tools = usable.map(
    (tool): FunctionTool => ({
      name: tool.name,
      description: (tool.manifest.description ?? `Runs ${tool.name}.`).slice(0, MAX_DESCRIPTION_CHARS),
      parameters: inputSchemaOf(tool.manifest),
      execute: (args, options = {}) =>
        resultOf(args, options, async () => {
          const { signal } = options;
          const call = new Call();
          const onQuestion = (question: Question) => call.ask(question);
          const words = wordsFor(tool.manifest, args);
          // For a tool without inputs, the `--` is only part of the command line.
          const given = words[0] === '--' ? words.slice(1) : words;
          const running = door.run(tool.name, given, { onQuestion, ...(signal && { signal }) });
          const runId = await running.runId;
          call.follow(runId, running);
          calls.set(runId, call);
          return next(door, calls, call);
        }),
    }),
  );
  const mayAsk = usable.some(({ manifest }) => manifest.actions.length > 0);
  return [
    ...tools,
    ...(mayAsk ? [answerTool(door, calls)] : []),
    ...(door.limitS !== undefined ? [waitTool(door, calls)] : []),
  ];
}

function answerTool(door: FunctionToolDoor, calls: Map<string, Call>): FunctionTool {
  return {
    name: ANSWER,
    description: 'Answers the question of a run that waits (state waiting_ai), and continues the run.',
    parameters: {
      type: 'object',
      properties: {
        run_id: { type: 'string' },
        action_id: { type: 'string' },
        answer: { description: 'The id of an option, or a value that matches the schema of the question.' },
      },
      required: ['run_id', 'action_id', 'answer'],
      additionalProperties: false,
    },
    execute: (args, options = {}) =>
      resultOf(args, options, async () => {
        const { run_id: runId, action_id: actionId, answer } = args as Record<string, string>;
        await door.answer(String(runId), String(actionId), answer);
        const call = calls.get(String(runId));
        if (call === undefined) return { state: 'completed', run_id: String(runId) };
        return next(door, calls, call);
      }),
  };
}

function waitTool(door: FunctionToolDoor, calls: Map<string, Call>): FunctionTool {
  return {
    name: WAIT,
    description: 'Waits for a run that continues (state running).',
    parameters: {
      type: 'object',
      properties: { run_id: { type: 'string' } },
      required: ['run_id'],
      additionalProperties: false,
    },
    execute: (args, options = {}) =>
      resultOf(args, options, async () => {
        const { run_id: runId } = args;
        const call = calls.get(String(runId));
        if (call === undefined)
          throw new AcorError('E_RUN_NOT_FOUND', `no run ${String(runId)} of this session continues`, {
            hint: 'Its result was an answer before.',
          });
        return next(door, calls, call);
      }),
  };
}

/** A run that the model started, with the events that the model has not seen. */
class Call {
  runId = '';
  #ended: Promise<RunSummary> | undefined;
  readonly #unheard: Question[] = [];
  #onQuestion: () => void = () => {};

  follow(runId: string, ended: PromiseLike<RunSummary>): void {
    this.runId = runId;
    this.#ended = Promise.resolve(ended);
  }

  /** Leaves the question to the model. */
  ask(question: Question): undefined {
    if (!question.blocking) return;
    this.#unheard.push(question);
    this.#onQuestion();
  }

  /** Resolves to the next unseen question, or to the end of the run; `running` when `limitS` has passed. */
  async next(limitS: number | undefined): Promise<Question | RunSummary | 'running'> {
    const asked = new Promise<void>((resolve) => {
      this.#onQuestion = resolve;
    });
    if (this.#unheard.length > 0) return this.#unheard.shift()!;
    let timer: NodeJS.Timeout | undefined;
    const limit = new Promise<'running'>((resolve) => {
      if (limitS !== undefined) timer = setTimeout(() => resolve('running'), limitS * 1000);
    });
    const end = await Promise.race([asked, this.#ended!, limit]).finally(() => clearTimeout(timer));
    return end ?? this.#unheard.shift()!;
  }
}

async function next(
  { limitS }: FunctionToolDoor,
  calls: Map<string, Call>,
  call: Call,
): Promise<FunctionResult> {
  const news = await call.next(limitS);
  if (news === 'running')
    return { state: news, run_id: call.runId, next: [`${WAIT}({"run_id":"${call.runId}"})`] };
  if ('actionId' in news) return waiting(call.runId, news);
  calls.delete(call.runId);
  return ended(news);
}

function waiting(runId: string, question: Question): FunctionResult {
  const { actionId, action, audience, msg, context, options, schema, timeoutS } = question;
  const known = answerSteps(runId, question).map(({ input: { choice, value } }) =>
    choice === undefined ? String(value) : JSON.stringify(choice),
  );
  const answers = known.length > 0 ? known : ['<answer>'];
  return {
    state: 'waiting_ai',
    run_id: runId,
    question: {
      action_id: actionId,
      action,
      audience,
      msg,
      context,
      options,
      schema,
      ...(timeoutS !== undefined && { timeout_s: timeoutS }),
      ...(question.default !== undefined && { default: question.default.value }),
    },
    next: answers.map(
      (answer) =>
        `${ANSWER}({"run_id":"${runId}","action_id":${JSON.stringify(actionId)},"answer":${answer}})`,
    ),
  };
}

function ended({
  run_id,
  state,
  code,
  message,
  hint,
  retryable,
  result,
  artifacts,
  next,
}: RunSummary): FunctionResult {
  return {
    state,
    run_id,
    ...(result?.['data'] !== undefined && { data: result['data'] }),
    artifacts: artifacts.map(({ path, size, sha256, media_type }) => ({ path, size, sha256, media_type })),
    ...(code !== null && { error: { code, message: message ?? '', hint: hint ?? '', retryable } }),
    ...(code === null && state === 'cancelled' && { error: CANCELLED }),
    ...noteOf(next),
  };
}

/** A cancelled run has no code, because nothing failed. For the model its call has no result. */
const CANCELLED = {
  code: 'E_CANCELLED',
  message: 'the run was cancelled',
  hint: errorInfo('E_CANCELLED')!.hint,
  retryable: false,
};

/** The model has no function for these decisions. */
function noteOf(steps: readonly NextStep[]): { note?: string } {
  const kept = steps.filter((step) => 'input' in step && DECISIONS.includes(step.operation));
  if (kept.length === 0) return {};
  const isHeld = kept.some((step) => 'input' in step && step.operation === 'run.apply');
  const words = isHeld
    ? 'Its changes of files are held back, and a person decides about them'
    : 'A person can undo its changes of files';
  return { note: `${words}: ${kept.map(commandOf).join('; ')}` };
}

const DECISIONS = ['run.diff', 'run.apply', 'run.undo', 'run.discard'];

interface Refusal {
  code: string;
  hint: string;
  details: Readonly<Record<string, unknown>>;
}

/** A model cannot catch exceptions, so every error becomes a result. */
async function resultOf(
  args: Readonly<Record<string, unknown>>,
  options: ExecuteOptions,
  work: () => Promise<FunctionResult>,
): Promise<FunctionResult> {
  try {
    checkCall('execute', { args }, options);
    refuseAborted(options.signal);
    return await work();
  } catch (error) {
    const { code = 'E_UNKNOWN', message, hint, details } = error as Error & Partial<Refusal>;
    const refusal = inInputs({ code, message, hint, details });
    return {
      state: 'refused',
      error: { code, message: refusal.message, hint: refusal.hint ?? '', retryable: false },
    };
  }
}
