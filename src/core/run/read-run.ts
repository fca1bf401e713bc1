import { isFinal } from '../../protocol/run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { RunnerEnd } from '../../protocol/v1/runner-events.ts';
import type { RunStore } from '../ports/run-store.ts';
import { lastEventOf } from './read-log.ts';

/** The fields of the record that the end of a run changes. */
type EndChange = Pick<
  RunRecord,
  'code' | 'message' | 'rc' | 'signal' | 'duration_s' | 'ended_at' | 'attempt'
> & { state: RunnerEnd['state'] };

/**
 * A run's record as readers see it. When the log already has the end and the record does not, the end is added. A lost run gets the
 * end that recovery will write, and `lost: true`. Writes nothing.
 */
export async function readRun(store: RunStore, runId: string): Promise<RunRecord & { lost?: true }> {
  const { record, liveness } = await livenessOf(store, runId);
  if (liveness === 'ended') return record;
  const end = await endInLog(store, runId);
  if (liveness === 'live') return end === undefined ? record : { ...record, ...changeFrom(end) };
  return { ...record, ...(end === undefined ? lostChange(record) : changeFrom(end)), lost: true };
}

/** The `runner_end` of a log, if that is its last event. */
export async function endInLog(store: RunStore, runId: string): Promise<RunnerEnd | undefined> {
  try {
    const last = await lastEventOf(store, runId);
    return last?.type === 'runner_end' ? (last as unknown as RunnerEnd) : undefined;
  } catch {
    return undefined;
  }
}

/** What the end says of the record: what the seal covers must be in both. */
export function changeFrom(end: RunnerEnd): EndChange & Pick<RunRecord, 'usage' | 'cost' | 'cost_usd'> {
  const { state, code, message = null, rc, signal, duration_s, attempt, ts, cost = null } = end;
  const usage = { cpu_s: end.usage.cpu_s, max_rss_bytes: end.usage.max_rss_bytes };
  const change = { state, code, message, rc, signal, duration_s, ended_at: ts, attempt };
  return { ...change, usage, cost, cost_usd: cost?.usd ?? null };
}

export function lostMessage({ supervisor }: RunRecord): string {
  return `the supervisor of the run (process ${supervisor.pid}) is gone`;
}

function lostChange(record: RunRecord): EndChange {
  return {
    state: 'failed',
    code: 'E_RUNNER_LOST',
    message: lostMessage(record),
    rc: null,
    signal: null,
    duration_s: null,
    ended_at: null,
    attempt: record.attempt,
  };
}

/** `ended`; `live`: a supervisor owns the run; `lost`: its supervisor is gone. */
type Liveness = 'ended' | 'live' | 'lost';

/** A consistent view of a run's record and its liveness. Throws E_RUN_NOT_FOUND. */
export async function livenessOf(
  store: RunStore,
  runId: string,
): Promise<{ record: RunRecord; liveness: Liveness }> {
  for (;;) {
    const record = await store.read(runId);
    if (isFinal(record.state)) return { record, liveness: 'ended' };
    if ((await store.leases.inspect(runId)) === 'live') return { record, liveness: 'live' };
    // A supervisor releases its lease after it has written the end: both may happen between the two reads.
    const again = await store.read(runId);
    if (again.state === record.state && again.epoch === record.epoch) return { record, liveness: 'lost' };
  }
}

/** Whether a supervisor owns the run now. Throws E_RUN_NOT_FOUND. */
export async function isLive(store: RunStore, runId: string): Promise<boolean> {
  return (await livenessOf(store, runId)).liveness === 'live';
}
