import type { ToolEntry } from './core/registry/tool-entry.ts';
import { inputSchemaOf, type ObjectSchema, wordsFor } from './core/registry/tool-schema.ts';
import { answerSteps, type Question } from './core/run/answers/question.ts';
import type { RunSummary } from './core/run/run-summary.ts';
import { commandOf } from './operations/command-forms.ts';
import type { NextStep } from './protocol/next-step.ts';

/** A tool of the project as TypeScript agent frameworks take one: a name, a JSON Schema, and what carries a call out. */
export interface FunctionTool {
  /** Letters, digits, `_` and `-`, at most 64. */
  name: string;
  description: string;
  /** A JSON Schema (draft 2020-12) of the arguments. */
  parameters: ObjectSchema;
  /**
   * Carries a call out, as a run like any other. It resolves to what the model is to be told, whatever came of the run; what keeps it
   * from starting (wrong arguments, a policy, a missing runtime) is told in the same way, as an `error`. `signal` cancels the run.
   */
  execute(
    args: Readonly<Record<string, unknown>>,
    options?: { signal?: AbortSignal },
  ): Promise<FunctionResult>;
}

/** What a call came to. In the state `waiting_ai` the run stands still, and `acor_answer` goes on with it. */
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

/** What the tools are made with. */
export interface FunctionToolDoor {
  tools: readonly ToolEntry[];
  run(
    tool: string,
    args: readonly string[],
    options: { onQuestion: (question: Question) => unknown; signal?: AbortSignal },
  ): PromiseLike<RunSummary> & { readonly runId: Promise<string> };
  answer(runId: string, question: string, value: unknown): Promise<void>;
}

/** The call that answers the questions of the others. */
const ANSWER = 'acor_answer';
const MAX_DESCRIPTION_CHARS = 1024;

/** Makes function tools of all tools that can be used, and `acor_answer` where one of them may ask. */
export function functionToolsOf(door: FunctionToolDoor): FunctionTool[] {
  const usable = door.tools.filter(({ problems }) => problems.length === 0);
  const calls = new Map<string, Call>();
  const tools = usable.map(
    (tool): FunctionTool => ({
      name: tool.name,
      description: (tool.manifest.description ?? `Runs ${tool.name}.`).slice(0, MAX_DESCRIPTION_CHARS),
      parameters: inputSchemaOf(tool.manifest),
      execute: (args, { signal } = {}) =>
        told(async () => {
          const call = new Call();
          const onQuestion = (question: Question) => call.ask(question);
          const words = wordsFor(tool.manifest, args);
          // For a tool without inputs the two dashes only stand for the command line.
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
    description: 'Answers the question of a run that waits (state waiting_ai), and goes on with it.',
    parameters: {
      type: 'object',
      properties: {
        run_id: { type: 'string' },
        action_id: { type: 'string' },
        answer: { description: 'The id of an option, or what the schema of the question asks for.' },
      },
      required: ['run_id', 'action_id', 'answer'],
      additionalProperties: false,
    },
    execute: (args) =>
      told(async () => {
        const { run_id: runId, action_id: actionId, answer } = args as Record<string, string>;
        await door.answer(String(runId), String(actionId), answer);
        const call = calls.get(String(runId));
        if (call === undefined) return { state: 'completed', run_id: String(runId) };
        return next(calls, call);
      }),
  };
}

/** A run that was called for, and what the model has yet to hear of it. */
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

  /** A question, each one once, or the end of the run. */
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

/** A model cannot catch anything: what is thrown is told. */
async function told(work: () => Promise<FunctionResult>): Promise<FunctionResult> {
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
