import type { RunRecord } from '../../protocol/run-record.ts';
import { mayFollow, type RunState } from '../../protocol/run-state.ts';
import type { RunWriter } from '../ports/run-store.ts';
import type { Survivor } from '../process/kill-tree.ts';
import type { Exit } from '../process/runtime.ts';
import type { MeasuredArtifact } from '../store-files/artifacts.ts';
import { lastStateChange } from './log-summary.ts';
import type { Outcome } from './outcome.ts';

export const UNKNOWN_USAGE: Exit['usage'] = { cpu_s: null, max_rss_bytes: null };

/** What `runner_end` tells beside the outcome. */
export interface EndingFacts {
  rc: number | null;
  signal: string | null;
  duration_s: number;
  usage: Exit['usage'];
  artifacts: readonly MeasuredArtifact[];
  survivors: readonly Survivor[];
  next: readonly string[];
  attempt: number;
  /** Another process ends the run, because its supervisor has died. */
  late?: true;
}

/**
 * Writes how a run ended: into the log, to the disk, into the ledger, into the record, in this order; whoever finds a record
 * that has no end yet does the rest. Returns the number of events. On a full disk the space that was put aside at the start
 * is used. `from` is the state that the log leaves the run in, for one who was not there; if that is the outcome's, only the end is missing.
 */
export async function writeEnding(
  writer: RunWriter,
  outcome: Outcome,
  facts: EndingFacts,
  from?: RunState,
): Promise<number> {
  const { state, code, message } = outcome;
  const { rc, signal, duration_s, attempt } = facts;
  if (from !== state) await withReserveRetry(writer, () => writeOutcome(writer, outcome, from));
  await withReserveRetry(writer, () => writeEnd(writer, outcome, facts));
  // Once only: after a sync that failed, the next one says yes to what the disk has lost.
  writer.log.sync();
  await withReserveRetry(writer, () => writer.enterInLedger({ state, code }));
  const events = writer.log.events;
  const ended: Partial<RunRecord> = {
    state,
    code,
    message,
    rc,
    signal,
    duration_s,
    events,
    attempt,
    ended_at: new Date().toISOString(),
  };
  await withReserveRetry(writer, () => writer.update(ended, { durable: true }));
  return events;
}

/** Tells of a change of state, which must be one that the table allows. */
export function enterState(
  { log, record }: RunWriter,
  to: RunState,
  reason?: string | null,
  more: Readonly<Record<string, unknown>> = {},
): void {
  changeState(log, record.state, to, { ...(reason && { reason }), ...more });
}

function changeState(
  log: RunWriter['log'],
  from: RunState,
  to: RunState,
  more: Readonly<Record<string, unknown>>,
): void {
  if (!mayFollow(from, to)) throw new Error(`Internal: a run cannot go from ${from} to ${to}`);
  log.append({ type: 'runner_state', from, to, ...more });
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

/** The state that the log leaves the run in, if the run may end in `to` from there: a tool may have changed its own log. */
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
  // A change of state may be among the events that were dropped.
  const before = from ?? (log.hasDropped ? await stateInLog(writer, state) : undefined) ?? record.state;
  if (byRunner && code !== null) {
    const fix = hint === null ? {} : { hint };
    log.append({ type: 'runner_error', code, msg: message ?? '', ...fix, retryable });
  }
  changeState(log, before, state, code === null ? {} : { reason: code });
  log.flush();
}

function writeEnd({ log }: RunWriter, { state, code }: Outcome, facts: EndingFacts): void {
  const { rc, signal, duration_s, usage, artifacts, survivors, next, attempt, late } = facts;
  log.append({
    type: 'runner_end',
    state,
    rc,
    signal,
    code,
    duration_s,
    usage,
    events: log.events + 1,
    bytes: log.bytes,
    artifacts,
    survivors,
    next,
    attempt,
    ...(late && { late }),
    seal: log.seal(),
  });
  log.flush();
}
