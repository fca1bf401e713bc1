import { type ErrorInfo, errorInfo } from '../../protocol/error-codes.ts';
import type { NextStep } from '../../protocol/next-steps.ts';
import type { FinalState } from '../../protocol/run.ts';
import { firstError } from '../../util/error-code.ts';
import { unreachable } from '../../util/unreachable.ts';
import type { OverBudget } from '../cost/run-spending.ts';
import type { Survivor } from '../process/kill-tree.ts';
import type { Exit } from '../process/runtime.ts';
import type { MeasuredArtifact } from '../store-files/artifacts.ts';
import { storageError } from '../store-files/storage-error.ts';
import type { Ending } from './attempt/ending.ts';
import type { LastMessage } from './attempt/intake.ts';
import { describeOverLimit } from './attempt/resources/over-limit.ts';

/** What the runner observed of one attempt of a tool. `windDown` returns it; `judge` and `collectArtifacts` read it. */
export interface ObservedAttempt {
  ending: Ending;
  exit: Exit;
  message: LastMessage | undefined;
  /** The first violation of the protocol. */
  protocolProblem: string | undefined;
  /** Processes that could not be killed. */
  survivors: Survivor[];
  /** The files that the tool reported and the adapter found. */
  files: readonly MeasuredArtifact[];
}

/** The outcome of an attempt or a run. `judge`, `pipeOutcome` and the workflow engine return it; `Run` retries or ends accordingly. */
export interface Outcome {
  state: FinalState;
  code: string | null;
  message: string | null;
  hint: string | null;
  /** Whether a retry may help. */
  retryable: boolean;
  /** Whether the runner found the failure and records a `runner_error`. A tool's own error is in the log already. */
  byRunner: boolean;
  /** The program wrote no message of its own: the error only says how it exited. */
  isBareExit?: true;
  /** The child run that failed, of a workflow or a pipe. */
  failedRun?: string;
  /** The steps that provide what a child run was refused for, or a result that is gone. */
  remedies?: readonly NextStep[];
  /** Of a workflow: it is unknown what one of its steps did, so that only a resume with `force` repeats that. */
  needsForce?: true;
}

/** The rules of the manifest and the project by which an attempt is judged. */
interface Rules {
  adapter: string;
  strict: boolean;
  exitCodes: Readonly<Record<string, number>>;
  extraCodes: Readonly<Record<string, ErrorInfo>>;
}

const OK_EXIT: Exit = { rc: 0, signal: null, usage: { cpu_s: null, max_rss_bytes: null } };

/** Whether an exit code means success: 0, or a code of the manifest's `exit_codes` whose name begins with `ok`. */
export function isOkExit(rc: number, exitCodes: Readonly<Record<string, number>>): boolean {
  const names = namesOf(rc, exitCodes);
  return names.length > 0 ? names.some((name) => name.startsWith('ok')) : rc === 0;
}

/** Whether the manifest lists this exit code at all. */
export function isListedExit(rc: number, exitCodes: Readonly<Record<string, number>>): boolean {
  return rc === 0 || namesOf(rc, exitCodes).length > 0;
}

type Observed = Pick<ObservedAttempt, 'ending' | 'message' | 'protocolProblem'>;

/** Judges an attempt by what the runner observed and by what the tool reported (contract §1, §3). */
export function judge(observed: Observed, rules: Rules): Outcome {
  const { ending } = observed;
  switch (ending.kind) {
    case 'exited':
      return judgeExit(observed, rules, ending.exit);
    case 'lingered':
      // Its last message counts as its exit.
      return judgeExit(observed, rules, { ...OK_EXIT, rc: rules.exitCodes['ok'] ?? 0 });
    case 'deadline':
      return ending.outputClosed
        ? stopped('E_TIMEOUT', `the tool closed its output, but did not exit within ${ending.timeoutS} s`)
        : timedOut('the tool', ending);
    case 'silent':
      return stopped('E_HEARTBEAT_MISSED', `the tool sent no event for ${ending.silentForS.toFixed(1)} s`);
    case 'output-limit':
      return stopped('E_OUTPUT_LIMIT', `the tool wrote more than ${ending.maxBytes} bytes`);
    case 'over-limit': {
      const { code, message, hint } = describeOverLimit(ending);
      return { ...stopped(code, message), hint };
    }
    case 'over-budget':
      return overBudget(ending);
    case 'unanswered':
      return stopped('E_ACTION_TIMEOUT', `no answer to '${ending.actionId}' within ${ending.timeoutS} s`);
    case 'invalid-question':
      return invalidQuestion(ending);
    case 'cancelled':
      return cancelledFor(ending.reason);
    case 'store-failed':
      return { ...stopped(ending.error.code, ending.error.message), hint: ending.error.hint ?? null };
    default:
      return unreachable(ending);
  }
}

/** The deadline passed. A question that is open then is the likely reason, and can be answered before the next try. */
export function timedOut(
  what: string,
  { timeoutS, question }: Omit<Extract<Ending, { kind: 'deadline' }>, 'kind' | 'outputClosed'>,
): Outcome {
  const outcome = stopped('E_DEADLINE', `${what} timed out after ${timeoutS} s`);
  if (question === undefined) return outcome;
  return {
    ...outcome,
    message: `${outcome.message}, while the question '${question}' was open`,
    hint: `Answer it in time, or beforehand: --answer ${/^[\w.-]+$/.test(question) ? question : 'ACTION'}=VALUE. Or give the run a longer timeout, the question a timeout_s and a default, or set environment.waiting_stops_deadline: true.`,
  };
}

/** The tool waited for the answer to a question that can get none. */
export function invalidQuestion({
  actionId,
  problem,
}: Pick<Extract<Ending, { kind: 'invalid-question' }>, 'actionId' | 'problem'>): Outcome {
  const { field, expected } = problem;
  return {
    ...stopped('E_PROTOCOL', `the tool's question '${actionId}' is invalid: '${field}' must be ${expected}`),
    hint: `Correct '${field}' of this action_required in the tool. ACOR stopped the tool, because an invalid question gets no answer.`,
  };
}

/** The run has reached a limit of its cost. */
export function overBudget({ usd, limit }: Omit<OverBudget, 'kind'>): Outcome {
  return {
    ...stopped('E_BUDGET', `the run has cost ${usd} USD; ${limit.by} allows ${limit.usd}`),
    hint: `Raise ${limit.by} if more may be spent, then continue.`,
  };
}

function judgeExit({ message, protocolProblem }: Observed, rules: Rules, exit: Exit): Outcome {
  const { exitCodes } = rules;
  const ok = exit.rc !== null && isOkExit(exit.rc, exitCodes);
  const how = exit.rc === null ? `was killed by ${exit.signal}` : `ended with exit code ${exit.rc}`;
  if (message?.type === 'error') return toolError(message, rules, exit);
  if (message?.type === 'cancelled') return cancelledFor(text(message.reason) ?? 'cancelled by the tool');
  if (!ok) {
    const subject = message?.type === 'result' ? 'the tool wrote a result, and then' : 'the tool';
    return { ...stopped('E_TOOL_FAILED', `${subject} ${how}`), retryable: isRetryableExit(exit, exitCodes) };
  }
  if (message === undefined) return withoutResult(rules);
  if (message.status === 'error' || message.status === 'failed') {
    return stopped('E_TOOL_FAILED', `the tool's result has the status '${message.status}'`);
  }
  if (rules.strict && protocolProblem !== undefined) return stopped('E_PROTOCOL', protocolProblem);
  return completed();
}

function withoutResult({ strict, adapter }: Rules): Outcome {
  if (adapter === 'plain' || !strict) return completed();
  return stopped('E_NO_RESULT', 'the tool exited with 0 without a result');
}

/** `retryable` comes from the tool's message, else from its exit code, else from the error table. */
function toolError(message: LastMessage, { exitCodes, extraCodes }: Rules, exit: Exit): Outcome {
  const code =
    typeof message.code === 'string' && /^E_[A-Z0-9_]+$/.test(message.code) ? message.code : 'E_TOOL_FAILED';
  const info = errorInfo(code, extraCodes);
  const byExit = exit.rc === null ? undefined : retryableByExit(exit.rc, exitCodes);
  const said = typeof message.retryable === 'boolean' ? message.retryable : undefined;
  return {
    state: 'failed',
    code,
    message: text(message.msg) ?? 'the tool reported an error without a message',
    hint: text(message.hint) ?? info?.hint ?? null,
    retryable: said ?? byExit ?? info?.retryable ?? false,
    byRunner: false,
    ...(typeof message.rc === 'number' && { isBareExit: true as const }),
  };
}

function isRetryableExit(exit: Exit, exitCodes: Readonly<Record<string, number>>): boolean {
  return exit.rc !== null && retryableByExit(exit.rc, exitCodes) === true;
}

/** True or false for the manifest's `retryable…` and `fatal…` exit codes; undefined for every other code. */
function retryableByExit(rc: number, exitCodes: Readonly<Record<string, number>>): boolean | undefined {
  const names = namesOf(rc, exitCodes);
  if (names.some((name) => name.startsWith('retryable'))) return true;
  return names.some((name) => name.startsWith('fatal')) ? false : undefined;
}

function namesOf(rc: number, exitCodes: Readonly<Record<string, number>>): string[] {
  return Object.entries(exitCodes)
    .filter(([, code]) => code === rc)
    .map(([name]) => name);
}

/** The outcome of a run that has done its work. */
export function completed(): Outcome {
  return { state: 'completed', code: null, message: null, hint: null, retryable: false, byRunner: false };
}

/** A failure that the runner found, with the hint and the retry rule of the error table. */
export function stopped(code: string, message: string): Outcome {
  const info = errorInfo(code);
  return {
    state: 'failed',
    code,
    message,
    hint: info?.hint ?? null,
    retryable: info?.retryable ?? false,
    byRunner: true,
  };
}

/** The outcome of a run that failed with an error of the runner. */
export function failureOf(error: unknown, dir: string): Outcome {
  const { code, message, hint } = storageError(firstError(error), 'run the tool', dir);
  return { ...stopped(code, message), ...(hint && { hint }), retryable: false };
}

/** The outcome of a run that was cancelled for a reason. */
export function cancelledFor(reason: string): Outcome {
  return { state: 'cancelled', code: null, message: reason, hint: null, retryable: false, byRunner: false };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
