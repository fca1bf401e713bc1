import type { RunRecord } from '../../protocol/run-record.ts';
import type { Outcome } from './outcome.ts';
import type { RetryPlan } from './plan/run-plan.ts';

/** Whether a failed attempt is tried again; `unknown` when it would be, but nobody can say what the stopped tool had already done. */
export function nextStep(
  outcome: Outcome,
  attempt: number,
  retry: RetryPlan,
  facts: { idempotent: boolean; wasStopped: boolean },
): 'retry' | 'end' | 'unknown' {
  if (outcome.state !== 'failed' || !outcome.retryable || attempt >= retry.maxAttempts) return 'end';
  return facts.wasStopped && !facts.idempotent ? 'unknown' : 'retry';
}

/** The wait before the next try: doubled each time, with chance in it so that many do not come back at once. In milliseconds. */
export function backoffMs(attempt: number, retry: RetryPlan, random: () => number = Math.random): number {
  const ceilingS = Math.min(retry.maxBackoffS, retry.backoffS * 2 ** (attempt - 1));
  return ceilingS * (0.5 + random() / 2) * 1000;
}

/** Endings after which nobody can say what the tool had done by then. */
const STOPPED_MIDWAY = [
  'E_RUNNER_LOST',
  'E_HEARTBEAT_MISSED',
  'E_DEADLINE',
  'E_TIMEOUT',
  'E_OUTPUT_LIMIT',
  'E_OUTCOME_UNKNOWN',
];

/** Whether a run that has ended was ended by somebody else than its tool, mid-way. */
export function wasStoppedMidway({ code, signal }: RunRecord): boolean {
  return signal !== null || (code !== null && STOPPED_MIDWAY.includes(code));
}
