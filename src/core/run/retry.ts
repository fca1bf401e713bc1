import type { RunRecord } from '../../protocol/run-record.ts';
import type { Outcome } from './outcome.ts';
import type { RetryPlan } from './plan/run-plan.ts';

/** Codes of runs whose tool was stopped: its effects are unknown. */
const STOPPED_MIDWAY = [
  'E_RUNNER_LOST',
  'E_HEARTBEAT_MISSED',
  'E_DEADLINE',
  'E_TIMEOUT',
  'E_OUTPUT_LIMIT',
  'E_OUTCOME_UNKNOWN',
];

/** Whether to retry after an attempt; `unknown` when a retry would follow, but the effects of the stopped tool are unknown. */
export function nextStep(
  outcome: Outcome,
  attempt: number,
  retry: RetryPlan,
  facts: { idempotent: boolean; wasStopped: boolean },
): 'retry' | 'end' | 'unknown' {
  if (outcome.state !== 'failed' || !outcome.retryable || attempt >= retry.maxAttempts) return 'end';
  return facts.wasStopped && !facts.idempotent ? 'unknown' : 'retry';
}

/** The wait before the next attempt in milliseconds: exponential backoff with jitter. */
export function backoffMs(
  attempt: number,
  retry: Pick<RetryPlan, 'backoffS' | 'maxBackoffS'>,
  random: () => number = Math.random,
): number {
  const ceilingS = Math.min(retry.maxBackoffS, retry.backoffS * 2 ** (attempt - 1));
  return ceilingS * (0.5 + random() / 2) * 1000;
}

/** With this exit code a tool says that it read the cancel file and left in order, as the SDKs' `check_cancel` does. */
const CANCELLED_RC = 130;
const STOPPED_IN_ORDER = ['E_DEADLINE', 'E_HEARTBEAT_MISSED', 'E_OUTPUT_LIMIT'];

/** Whether an ended run's tool was stopped before its work was done. */
export function wasInterrupted({ code, signal }: Pick<RunRecord, 'code' | 'signal'>): boolean {
  return signal !== null || (code !== null && STOPPED_MIDWAY.includes(code));
}

/** Whether an ended run's tool was stopped and did not end by itself: it is unknown what it had done. */
export function wasStoppedMidway(run: Pick<RunRecord, 'code' | 'signal' | 'rc'>): boolean {
  const leftInOrder =
    run.signal === null && run.rc === CANCELLED_RC && STOPPED_IN_ORDER.includes(run.code ?? '');
  return wasInterrupted(run) && !leftInOrder;
}
