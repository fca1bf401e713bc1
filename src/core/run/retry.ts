import type { RunRecord } from '../../protocol/run-record.ts';
import type { Outcome } from './outcome.ts';
import type { RetryPlan } from './plan/run-plan.ts';

/** Codes of runs that were stopped, so that it is unknown what their tool had done by then. */
const STOPPED_MIDWAY = [
  'E_RUNNER_LOST',
  'E_HEARTBEAT_MISSED',
  'E_DEADLINE',
  'E_TIMEOUT',
  'E_OUTPUT_LIMIT',
  'E_OUTCOME_UNKNOWN',
];

/** Whether a failed attempt is retried; `unknown` when it would be, but it is unknown what the stopped tool had already done. */
export function nextStep(
  outcome: Outcome,
  attempt: number,
  retry: RetryPlan,
  facts: { idempotent: boolean; wasStopped: boolean },
): 'retry' | 'end' | 'unknown' {
  if (outcome.state !== 'failed' || !outcome.retryable || attempt >= retry.maxAttempts) return 'end';
  return facts.wasStopped && !facts.idempotent ? 'unknown' : 'retry';
}

/** The wait before the next attempt, in milliseconds: doubled each time, with jitter. */
export function backoffMs(attempt: number, retry: RetryPlan, random: () => number = Math.random): number {
  const ceilingS = Math.min(retry.maxBackoffS, retry.backoffS * 2 ** (attempt - 1));
  return ceilingS * (0.5 + random() / 2) * 1000;
}

/** Whether an ended run was stopped by something other than its tool. */
export function wasStoppedMidway({ code, signal }: RunRecord): boolean {
  return signal !== null || (code !== null && STOPPED_MIDWAY.includes(code));
}
