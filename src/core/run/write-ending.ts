import { errorInfo } from '../../protocol/error-codes.ts';
import type { NextStep } from '../../protocol/next-steps.ts';
import { mayFollow, type RunState } from '../../protocol/run.ts';
import type { RunCost } from '../../protocol/run-cost.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { RunnerEnd } from '../../protocol/v1/runner-events.ts';
import type { RunWriter } from '../ports/run-store.ts';
import type { Survivor } from '../process/kill-tree.ts';
import type { Exit } from '../process/runtime.ts';
import type { MeasuredArtifact } from '../store-files/artifacts.ts';
import type { Outcome } from './outcome.ts';
import { lastStateChange } from './read-log.ts';
import { hasResult } from './retry.ts';
import type { RunSummary } from './run-summary.ts';

export const UNKNOWN_USAGE: Exit['usage'] = { cpu_s: null, max_rss_bytes: null };

/** The fields of `runner_end` besides the outcome; `late` when recovery writes the event because the supervisor has died. */
type Reported = Pick<RunnerEnd, 'rc' | 'signal' | 'duration_s' | 'usage' | 'attempt' | 'late'> & {
  artifacts: readonly MeasuredArtifact[];
  survivors: readonly Survivor[];
  next: readonly NextStep[];
  cost: RunCost | null;
  cancelled_by?: string | undefined;
  result?: RunSummary['result'];
};

/**
 * Writes the end of a run to the log, which is fsynced, then to the ledger, then to the record, so that recovery can continue after a
 * crash in between. On a full disk it uses the space that was reserved at the start. Recovery passes the last state in the log as
 * `from`; when that is the outcome's state, only `runner_end` is missing. Calls `settle` between the two. Returns the number of events.
 */
export async function writeEnding(
  writer: RunWriter,
  outcome: Outcome,
  reported: Reported,
  { from, settle }: { from?: RunState; settle?: () => Promise<void> | undefined } = {},
): Promise<number> {
  const { state, code, message } = outcome;
  const { rc, signal, duration_s, usage, attempt, cost } = reported;
  if (from !== state) await withReserveRetry(writer, () => writeOutcome(writer, outcome, from));
  await settle?.();
  await withReserveRetry(writer, () => writeEnd(writer, outcome, reported));
  // Not retried: after a failed fsync the next one succeeds although the kernel has dropped the data.
  await writer.log.sync();
  await withReserveRetry(writer, () => writer.enterInLedger({ state, code }));
  const events = writer.log.events;
  const ended: Partial<RunRecord> = {
    state,
    code,
    message,
    rc,
    signal,
    has_result: hasResult(state, reported.result),
    duration_s,
    usage: { cpu_s: usage.cpu_s, max_rss_bytes: usage.max_rss_bytes },
    cost_usd: cost?.usd ?? null,
    cost,
    events,
    attempt,
    ended_at: new Date().toISOString(),
  };
  await withReserveRetry(writer, () => writer.update(ended, { durable: true }));
  return events;
}

async function withReserveRetry(writer: RunWriter, step: () => void | Promise<void>): Promise<void> {
  try {
    await step();
  } catch {
    writer.log.discardPending();
    writer.releaseReserve();
    await step();
  }
}

/** The last state in the log, if the transition to `to` is valid: a tool may have changed its own log. */
async function stateInLog({ log }: RunWriter, to: RunState): Promise<RunState | undefined> {
  try {
    const from = (await lastStateChange(log.tail()))?.to;
    return from !== undefined && mayFollow(from, to) ? from : undefined;
  } catch {
    return undefined;
  }
}

async function writeOutcome(
  writer: RunWriter,
  { state, code, message, hint, retryable, byRunner }: Outcome,
  from: RunState | undefined,
): Promise<void> {
  const { log, record } = writer;
  // A state change may be among the dropped events.
  const before = from ?? (log.hasDropped ? await stateInLog(writer, state) : undefined) ?? record.state;
  if (byRunner && code !== null) {
    const fix = hint === null ? {} : { hint };
    log.append({ type: 'runner_error', code, msg: message ?? '', ...fix, retryable });
  }
  changeState(log, before, state, code === null ? {} : { reason: code });
  await log.flush();
}

async function writeEnd(
  { log, commandOf }: RunWriter,
  { state, code, message, hint, retryable }: Outcome,
  reported: Reported,
): Promise<void> {
  const isOwnHint = hint !== null && hint !== errorInfo(code ?? '')?.hint;
  const {
    rc,
    signal,
    duration_s,
    usage,
    artifacts,
    survivors,
    next,
    attempt,
    late,
    cost,
    cancelled_by: by,
  } = reported;
  log.append({
    type: 'runner_end',
    state,
    rc,
    signal,
    code,
    message,
    ...(state === 'failed' && { retryable, ...(isOwnHint && { hint }) }),
    ...(state === 'cancelled' && by !== undefined && { cancelled_by: by }),
    duration_s,
    usage,
    ...(cost !== null && { cost }),
    events: log.events + 1,
    bytes: log.bytes,
    artifacts,
    survivors,
    next: next.map(commandOf),
    ...(log.warnings.length > 0 && { warnings: [...log.warnings] }),
    attempt,
    ...(late && { late }),
    seal: log.seal(),
  });
  await log.flush();
}

/** Records a run's change from the state in its record to another state. */
export function enterState(
  { log, record }: RunWriter,
  to: RunState,
  reason?: string | null,
  more: Readonly<Record<string, unknown>> = {},
): void {
  changeState(log, record.state, to, { ...(reason && { reason }), ...more });
}

/** Records a state change, which the table of transitions must allow. */
function changeState(
  log: RunWriter['log'],
  from: RunState,
  to: RunState,
  more: Readonly<Record<string, unknown>>,
): void {
  if (!mayFollow(from, to)) throw new Error(`Internal: a run cannot go from ${from} to ${to}`);
  log.append({ type: 'runner_state', from, to, ...more });
}
