import { type ErrorInfo, errorInfo } from '../../protocol/error-codes.ts';
import type { FinalState } from '../../protocol/run-state.ts';
import { firstError } from '../../util/error-code.ts';
import { unreachable } from '../../util/unreachable.ts';
import type { Survivor } from '../process/kill-tree.ts';
import type { Exit } from '../process/runtime.ts';
import type { MeasuredArtifact } from '../store-files/artifacts.ts';
import { storageError } from '../store-files/storage-error.ts';
import type { Ending } from './attempt/ending.ts';
import type { LastMessage } from './attempt/intake.ts';
import { describeOverLimit } from './attempt/resources/over-limit.ts';

/** What was seen of one attempt of a tool. `windDown` makes it; `judge` and the collection of its artifacts read it. */
export interface ObservedAttempt {
  ending: Ending;
  exit: Exit;
  message: LastMessage | undefined;
  /** The first breach of the protocol. */
  protocolProblem: string | undefined;
  /** Processes that could not be killed. */
  survivors: Survivor[];
  /** The files that the adapter found, of those that the tool named. */
  files: readonly MeasuredArtifact[];
}

/** The verdict on an attempt or a run. `judge`, `pipeOutcome` and the workflow engine make it; `Run` retries and ends by it. */
export interface Outcome {
  state: FinalState;
  code: string | null;
  message: string | null;
  hint: string | null;
  /** Whether a retry may help. */
  retryable: boolean;
  /** The runner found the fault, and records it as `runner_error`; a tool's own error is in the log already. */
  byRunner: boolean;
}

/** What the manifest and the project say about how a tool ends. */
interface Rules {
  adapter: string;
  strict: boolean;
  exitCodes: Readonly<Record<string, number>>;
  extraCodes: Readonly<Record<string, ErrorInfo>>;
}

const OK_EXIT: Exit = { rc: 0, signal: null, usage: { cpu_s: null, max_rss_bytes: null } };

/** Whether an exit code means success by the manifest's `exit_codes`: those whose name begins with `ok`. */
export function isOkExit(rc: number, exitCodes: Readonly<Record<string, number>>): boolean {
  const names = namesOf(rc, exitCodes);
  return names.length > 0 ? names.some((name) => name.startsWith('ok')) : rc === 0;
}

/** Whether the manifest lists this exit code at all. */
export function isListedExit(rc: number, exitCodes: Readonly<Record<string, number>>): boolean {
  return rc === 0 || namesOf(rc, exitCodes).length > 0;
}

type Observed = Pick<ObservedAttempt, 'ending' | 'message' | 'protocolProblem'>;

/** Judges an attempt by what happened, not by what the tool says alone (contract §1, §3). */
export function judge(observed: Observed, rules: Rules): Outcome {
  const { ending } = observed;
  switch (ending.kind) {
    case 'exited':
      return judgeExit(observed, rules, ending.exit);
    case 'lingered':
      // It counts as if it had exited when it sent its last message.
      return judgeExit(observed, rules, { ...OK_EXIT, rc: rules.exitCodes['ok'] ?? 0 });
    case 'deadline':
      return ending.outputClosed
        ? stopped(
            'E_TIMEOUT',
            `the tool closed its output, but had not exited when its ${ending.timeoutS} s were up`,
          )
        : stopped('E_DEADLINE', `the tool was still at work when its ${ending.timeoutS} s were up`);
    case 'silent':
      return stopped('E_HEARTBEAT_MISSED', `the tool said nothing for ${ending.silentForS.toFixed(1)} s`);
    case 'output-limit':
      return stopped('E_OUTPUT_LIMIT', `the tool wrote more than ${ending.maxBytes} bytes`);
    case 'over-limit': {
      const { code, message, hint } = describeOverLimit(ending);
      return { ...stopped(code, message), hint };
    }
    case 'unanswered':
      return stopped('E_ACTION_TIMEOUT', `nobody answered '${ending.actionId}' within ${ending.timeoutS} s`);
    case 'cancelled':
      return {
        state: 'cancelled',
        code: null,
        message: ending.reason,
        hint: null,
        retryable: false,
        byRunner: false,
      };
    case 'store-failed':
      return { ...stopped(ending.error.code, ending.error.message), hint: ending.error.hint ?? null };
    default:
      return unreachable(ending);
  }
}

function judgeExit({ message, protocolProblem }: Observed, rules: Rules, exit: Exit): Outcome {
  const { exitCodes } = rules;
  const ok = exit.rc !== null && isOkExit(exit.rc, exitCodes);
  const how = exit.rc === null ? `was ended by ${exit.signal}` : `ended with exit code ${exit.rc}`;
  if (message?.type === 'error') return toolError(message, rules, exit);
  if (message?.type === 'cancelled') {
    return {
      state: 'cancelled',
      code: null,
      message: text(message.reason) ?? 'cancelled by the tool',
      hint: null,
      retryable: false,
      byRunner: false,
    };
  }
  if (!ok) {
    const said = message?.type === 'result' ? 'the tool wrote a result, and then ' : 'the tool ';
    return { ...stopped('E_TOOL_FAILED', `${said}${how}`), retryable: isRetryableExit(exit, exitCodes) };
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
  return stopped('E_NO_RESULT', 'the tool exited with 0 and had written no result');
}

/** `retryable` is what the tool says, else what its exit code says, else what the table says. */
function toolError(message: LastMessage, { exitCodes, extraCodes }: Rules, exit: Exit): Outcome {
  const code =
    typeof message.code === 'string' && /^E_[A-Z0-9_]+$/.test(message.code) ? message.code : 'E_TOOL_FAILED';
  const info = errorInfo(code, extraCodes);
  const byExit = exit.rc === null ? undefined : retryableByExit(exit.rc, exitCodes);
  const said = typeof message.retryable === 'boolean' ? message.retryable : undefined;
  return {
    state: 'failed',
    code,
    message: text(message.msg) ?? 'the tool told of an error',
    hint: text(message.hint) ?? info?.hint ?? null,
    retryable: said ?? byExit ?? info?.retryable ?? false,
    byRunner: false,
  };
}

function isRetryableExit(exit: Exit, exitCodes: Readonly<Record<string, number>>): boolean {
  return exit.rc !== null && retryableByExit(exit.rc, exitCodes) === true;
}

/** `retryable_error` and `fatal_error` of the manifest; undefined for every other code. */
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

function completed(): Outcome {
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

/** The outcome of a run that an error of the runner ended. */
export function failureOf(error: unknown, dir: string): Outcome {
  const { code, message, hint } = storageError(firstError(error), 'run the tool', dir);
  return { ...stopped(code, message), ...(hint && { hint }), retryable: false };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
