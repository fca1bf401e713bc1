import { type ErrorInfo, errorInfo } from '../../protocol/error-codes.ts';
import type { FinalState } from '../../protocol/run-state.ts';
import { firstError } from '../../util/error-code.ts';
import { unreachable } from '../../util/unreachable.ts';
import type { Exit } from '../process/runtime.ts';
import { storageError } from '../store-files/storage-error.ts';
import type { Ending } from './attempt/ending.ts';
import type { EndingMessage } from './attempt/intake.ts';
import { describeOverLimit } from './attempt/resources/over-limit.ts';

/** How an attempt ended, as the run tells it. `retryable` says whether trying again may help. */
export interface Outcome {
  state: FinalState;
  code: string | null;
  message: string | null;
  hint: string | null;
  retryable: boolean;
  /** The runner itself found the fault, so it has to tell of it; a tool's own error is in the log already. */
  byRunner: boolean;
}

export interface OutcomeFacts {
  ending: Ending;
  exit: Exit | null;
  message: EndingMessage | undefined;
  protocolProblem: string | undefined;
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

/** Judges an attempt by what happened, not by what the tool says alone (contract §1, §3). */
export function judge(facts: OutcomeFacts): Outcome {
  const { ending } = facts;
  switch (ending.kind) {
    case 'exited':
      return judgeExit(facts, ending.exit);
    case 'lingered':
      // What it said counts as if it had ended then.
      return judgeExit(facts, { ...OK_EXIT, rc: facts.exitCodes['ok'] ?? 0 });
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

function judgeExit(facts: OutcomeFacts, exit: Exit): Outcome {
  const { message, exitCodes } = facts;
  const ok = exit.rc !== null && isOkExit(exit.rc, exitCodes);
  const how = exit.rc === null ? `was ended by ${exit.signal}` : `ended with exit code ${exit.rc}`;
  if (message?.type === 'error') return toolError(facts, message, exit);
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
  if (message === undefined) return withoutResult(facts);
  if (message.status === 'error' || message.status === 'failed') {
    return stopped('E_TOOL_FAILED', `the tool's result has the status '${message.status}'`);
  }
  if (facts.strict && facts.protocolProblem !== undefined)
    return stopped('E_PROTOCOL', facts.protocolProblem);
  return completed();
}

function withoutResult({ strict, adapter }: OutcomeFacts): Outcome {
  if (adapter === 'plain' || !strict) return completed();
  return stopped('E_NO_RESULT', 'the tool exited with 0 and had written no result');
}

/** The tool's own word on `retryable` counts first, then its exit code, then the table. */
function toolError(facts: OutcomeFacts, message: EndingMessage, exit: Exit): Outcome {
  const code =
    typeof message.code === 'string' && /^E_[A-Z0-9_]+$/.test(message.code) ? message.code : 'E_TOOL_FAILED';
  const info = errorInfo(code, facts.extraCodes);
  const byExit = exit.rc === null ? undefined : retryableByExit(exit.rc, facts.exitCodes);
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

/** A failure that the runner itself tells of, with the hint and the retry rule of the table. */
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
