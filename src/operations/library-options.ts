import * as z from 'zod';
import { usageError } from '../compose/app-error.ts';
import { checkFields } from '../compose/check-fields.ts';
import { PLAIN_WORDS } from '../compose/describe-issue.ts';
import type { Question } from '../core/run/answers/question.ts';
import { AcorError } from '../protocol/acor-error.ts';
import type { RunEvent } from '../protocol/index.ts';
import { retries, timeoutOf } from './shapes.ts';
import { taskFields } from './workflow/task-fields.ts';

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
  /** Cancels the run in steps: cancel file, SIGTERM, SIGKILL. A call whose signal is aborted already starts nothing. */
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

export interface ExecOptions extends RunOptions {
  /** Files and folders that the program may read. It starts in `cwd` when that is granted. */
  read?: readonly string[];
  /** Files and folders that it may write. */
  write?: readonly string[];
  /** Hosts that it may access, as host:port. */
  net?: readonly string[];
  /** Further programs that it may start. */
  cmd?: readonly string[];
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
  /**
   * Ends the wait for the answer. What the operation has started continues, as a run does without its reader. A call whose
   * signal is aborted already starts nothing.
   */
  signal?: AbortSignal;
  /** Called with each event of an operation that has events, such as `run.attach`. */
  onEvent?: (event: RunEvent) => void;
  /** Only these fields of the data, or of the elements of its list: `['run_id', 'state']`. */
  fields?: readonly string[];
  /** At most so many elements of the list, from `offset`. */
  limit?: number;
  offset?: number;
  /** Cuts the list to about as many tokens of a language model. */
  maxTokens?: number;
}

export interface FunctionToolsOptions {
  /** A call whose run takes longer than so many seconds resolves with the state `running`. */
  limitS?: number | undefined;
}

export interface ExecuteOptions {
  /** Cancels the run. */
  signal?: AbortSignal;
}

/** What commands of the sandbox may do, beyond reading and writing its folder. */
export interface AcorSandboxOptions {
  /** The folder in which the model works. It must be in a place that ACOR may grant. */
  root: string;
  /** Hosts that commands may access, as host:port. */
  net?: readonly string[];
  /** Programs that commands may start, beyond those of the system. */
  cmd?: readonly string[];
  /** The deadline of a command, in seconds. */
  timeoutS?: number;
}

/** The words of a command line, or the declared inputs by their names. */
export type RunArguments = readonly string[] | Readonly<Record<string, unknown>>;

/** A check for each option that the type has, and no other. */
type Checks<T> = { [Name in keyof T]-?: z.ZodType };

const text = z.string();
const texts = z.array(text);
const object = z.record(text, z.unknown());
const call = z.custom((value) => typeof value === 'function', 'must be a function');
const signal = z.custom((value) => value instanceof AbortSignal, 'must be an AbortSignal');
const seconds = timeoutOf('the run');
const count = z.int().min(0);
const inputs = z.union([texts, object]);

const ofRun: Checks<RunOptions> = {
  onEvent: call.optional(),
  signal: signal.optional(),
  timeoutS: seconds,
  retries,
  answers: object.optional(),
  onQuestion: call.optional(),
  idempotencyKey: text.optional(),
};
const grants = {
  read: texts.optional(),
  write: texts.optional(),
  net: texts.optional(),
  cmd: texts.optional(),
};
const ofExec: Checks<ExecOptions> = { ...ofRun, ...grants };
const { taskId, description, plan, executor } = taskFields;
const ofTask: Checks<TaskOptions> = { ...ofRun, plan, executor };
const ofAnswer: Checks<AnswerOptions> = { reason: text.optional(), by: text.optional() };
const ofCall: Checks<CallOptions> = {
  signal: signal.optional(),
  onEvent: call.optional(),
  fields: texts.optional(),
  limit: count.optional(),
  offset: count.optional(),
  maxTokens: count.optional(),
};
const ofAcor: Checks<AcorOptions> = {
  cwd: text.min(1).optional(),
  env: z.record(text, text.optional()).optional(),
  config: object.optional(),
};
const ofFunctionTools: Checks<FunctionToolsOptions> = { limitS: seconds };
const ofSandbox: Checks<AcorSandboxOptions> = {
  root: text.min(1),
  net: grants.net,
  cmd: grants.cmd,
  timeoutS: seconds,
};
const ofExecute: Checks<ExecuteOptions> = { signal: signal.optional() };

/** What each function of the library takes: its arguments by name, and its options. */
const FUNCTIONS = {
  'new Acor': { takes: z.object({}), options: z.object(ofAcor) },
  call: { takes: z.object({ operation: text, input: object.optional() }), options: z.object(ofCall) },
  run: { takes: z.object({ tool: text.min(1), args: inputs }), options: z.object(ofRun) },
  exec: { takes: z.object({ program: text.min(1), args: texts }), options: z.object(ofExec) },
  workflow: { takes: z.object({ workflow: text.min(1), args: inputs }), options: z.object(ofRun) },
  pipe: { takes: z.object({ stages: texts }), options: z.object(ofRun) },
  task: { takes: z.object({ taskId, description }), options: z.object(ofTask) },
  answer: { takes: z.object({ run: text, question: text }), options: z.object(ofAnswer) },
  functionTools: { takes: z.object({}), options: z.object(ofFunctionTools) },
  acorSandbox: { takes: z.object({}), options: z.object(ofSandbox) },
  execute: { takes: z.object({ args: object }), options: z.object(ofExecute) },
};

/** Throws E_USAGE with everything that is wrong with a call of the library. */
export function checkCall(
  name: keyof typeof FUNCTIONS,
  args: Readonly<Record<string, unknown>>,
  options: unknown,
): void {
  const { takes, options: declared } = FUNCTIONS[name];
  const isObject = typeof options === 'object' && options !== null && !Array.isArray(options);
  const given = isObject ? (options as Record<string, unknown>) : {};
  const problems = [
    ...checkFields({ input: takes }, args, takes.safeParse(args, PLAIN_WORDS)).problems,
    ...(isObject
      ? []
      : [{ parameter: 'options', message: `options must be an object, not ${JSON.stringify(options)}` }]),
    ...checkFields({ input: declared }, given, declared.safeParse(given, PLAIN_WORDS), 'option').problems,
  ];
  if (problems.length === 0) return;
  const { code, message, hint, details } = usageError(problems);
  throw new AcorError(code, `${name}: ${message}`, {
    hint: hint || `Correct ${problems.map(({ parameter }) => parameter).join(', ')} in the call of ${name}.`,
    ...(details && { details }),
  });
}
