import type { ToolEntry } from './core/registry/tool-entry.ts';
import { inputSchemaOf, type ObjectSchema, wordsFor } from './core/registry/tool-schema.ts';
import { answerSteps, type Question } from './core/run/answers/question.ts';
import type { RunSummary } from './core/run/run-summary.ts';
import { commandOf } from './operations/command-forms.ts';
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
  execute(
    args: Readonly<Record<string, unknown>>,
    options?: { signal?: AbortSignal },
  ): Promise<FunctionResult>;
}

/** The result of a call. In the state `waiting_ai` the run waits for an answer, and `acor_answer` continues it. */
export interface FunctionResult {
  state: 'completed' | 'failed' | 'cancelled' | 'waiting_ai' | 'refused';
  run_id?: string;
  /** The `data` of the tool's result. */
  data?: unknown;
  artifacts?: { path: string; size: number; sha256: string; media_type: string }[];
  question?: Pick<Question, 'msg' | 'context' | 'options' | 'schema'> & { action_id: string; action: string };
  error?: { code: string; message: string; hint: string; retryable: boolean };
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
}

/** The function that answers the questions of the other functions' runs. */
const ANSWER = 'acor_answer';
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
      execute: (args, { signal } = {}) =>
        resultOf(async () => {
          const call = new Call();
          const onQuestion = (question: Question) => call.ask(question);
          const words = wordsFor(tool.manifest, args);
          // For a tool without inputs, the `--` is only part of the command line.
          const given = words[0] === '--' ? words.slice(1) : words;
          const running = door.run(tool.name, given, { onQuestion, ...(signal && { signal }) });
          const runId = await running.runId;
          call.follow(runId, running);
          calls.set(runId, call);
          return next(calls, call);
        }),
    }),
  );
  const mayAsk = usable.some(({ manifest }) => manifest.actions.length > 0);
  return mayAsk ? [...tools, answerTool(door, calls)] : tools;
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
    execute: (args) =>
      resultOf(async () => {
        const { run_id: runId, action_id: actionId, answer } = args as Record<string, string>;
        await door.answer(String(runId), String(actionId), answer);
        const call = calls.get(String(runId));
        if (call === undefined) return { state: 'completed', run_id: String(runId) };
        return next(calls, call);
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

  /** Resolves to the next unseen question, or to the end of the run. */
  async next(): Promise<Question | RunSummary> {
    const asked = new Promise<void>((resolve) => {
      this.#onQuestion = resolve;
    });
    const end = this.#unheard.length > 0 ? undefined : await Promise.race([asked, this.#ended!]);
    return end ?? this.#unheard.shift()!;
  }
}

async function next(calls: Map<string, Call>, call: Call): Promise<FunctionResult> {
  const news = await call.next();
  if ('actionId' in news) return waiting(call.runId, news);
  calls.delete(call.runId);
  return ended(news);
}

function waiting(runId: string, question: Question): FunctionResult {
  const { actionId, action, msg, context, options, schema } = question;
  return {
    state: 'waiting_ai',
    run_id: runId,
    question: { action_id: actionId, action, msg, context, options, schema },
    next: [`${ANSWER}(run_id, action_id, answer)`, ...answerSteps(runId, question).map(commandOf)],
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
}: RunSummary): FunctionResult {
  return {
    state,
    run_id,
    ...(result?.['data'] !== undefined && { data: result['data'] }),
    artifacts: artifacts.map(({ path, size, sha256, media_type }) => ({ path, size, sha256, media_type })),
    ...(code !== null && { error: { code, message: message ?? '', hint: hint ?? '', retryable } }),
  };
}

/** A model cannot catch exceptions, so every error becomes a result. */
async function resultOf(work: () => Promise<FunctionResult>): Promise<FunctionResult> {
  try {
    return await work();
  } catch (error) {
    const {
      code = 'E_UNKNOWN',
      message,
      hint = '',
      next = [],
    } = error as Error & {
      code?: string;
      hint?: string;
      next?: NextStep[];
    };
    return {
      state: 'refused',
      error: { code, message, hint, retryable: false },
      ...(next.length > 0 && { next: next.map(commandOf) }),
    };
  }
}
