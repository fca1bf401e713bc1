import type { RunState } from '../../protocol/run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { Outcome } from './outcome.ts';
import type { RetryPlan } from './plan/run-plan.ts';
import type { RunSummary } from './run-summary.ts';

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

/** As `has_result` of a record. */
export function hasResult(state: RunState, result: RunSummary['result'] | undefined): true | undefined {
  return state === 'cancelled' && result ? true : undefined;
}

/** What of a record says how its tool stopped. */
export type Stop = Pick<RunRecord, 'code' | 'signal' | 'rc' | 'has_result'>;

/** Whether a repeat may do again what an ended run's tool has done: it was stopped and did not end by itself, or it was cancelled and had finished. */
export function wasStoppedMidway(run: Stop): boolean {
  if (run.has_result) return true;
  const leftInOrder =
    run.signal === null && run.rc === CANCELLED_RC && STOPPED_IN_ORDER.includes(run.code ?? '');
  return wasInterrupted(run) && !leftInOrder;
}

/** Why a run is not repeated without `force`: of a tool that is not idempotent. */
export function whyUnknown({
  run_id,
  tool,
  code,
  signal,
  has_result,
}: Stop & Pick<RunRecord, 'run_id' | 'tool'>): string {
  return has_result
    ? `run ${run_id} was cancelled, but its tool had reported its result, and '${tool}' is not idempotent, so a repeat may do its work twice`
    : `run ${run_id} was stopped mid-way (${code ?? signal}), and '${tool}' is not idempotent, so its effects are unknown`;
}
