import type { RunRecord } from '../../protocol/run-record.ts';
import { mayFollow, type RunState } from '../../protocol/run-state.ts';
import type { Survivor } from '../process/kill-tree.ts';
import type { Exit } from '../process/runtime.ts';
import type { MeasuredArtifact } from '../storage/artifacts.ts';
import type { RunWriter } from '../storage/run-store.ts';
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
}

/**
 * Writes how a run ended: into the log, to the disk, into the record, into the ledger, in this order. Returns the number of
 * events. On a full disk the space that was put aside at the start is used.
 */
export async function writeEnding(writer: RunWriter, outcome: Outcome, facts: EndingFacts): Promise<number> {
  const { state, code, message } = outcome;
  const { rc, signal, duration_s, attempt } = facts;
  await surely(writer, () => writeOutcome(writer, outcome));
  await surely(writer, () => writeEnd(writer, outcome, facts));
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
  await surely(writer, () => writer.update(ended, { durable: true }));
  await surely(writer, () => writer.enterInLedger({ state, code }));
  return events;
}

/** Tells of a change of state, which must be one that the table allows. */
export function enterState(
  { log, record }: RunWriter,
  to: RunState,
  reason?: string | null,
  more: Readonly<Record<string, unknown>> = {},
): void {
  const from = record.state;
  if (!mayFollow(from, to)) throw new Error(`Internal: a run cannot go from ${from} to ${to}`);
  log.append({ type: 'runner_state', from, to, ...(reason && { reason }), ...more });
}

async function surely(writer: RunWriter, step: () => void | Promise<void>): Promise<void> {
  try {
    await step();
  } catch {
    writer.log.discardPending();
    writer.releaseReserve();
    await step();
  }
}

function writeOutcome(writer: RunWriter, { state, code, message, hint, retryable, byRunner }: Outcome): void {
  if (byRunner && code !== null) {
    const fix = hint === null ? {} : { hint };
    writer.log.append({ type: 'runner_error', code, msg: message ?? '', ...fix, retryable });
  }
  enterState(writer, state, code);
  writer.log.flush();
}

function writeEnd({ log }: RunWriter, { state, code }: Outcome, facts: EndingFacts): void {
  const { rc, signal, duration_s, usage, artifacts, survivors, next, attempt } = facts;
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
    seal: log.seal(),
  });
  log.sync();
}
