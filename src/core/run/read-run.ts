import type { RunRecord } from '../../protocol/run-record.ts';
import type { RunnerEnd } from '../../protocol/v1/runner-events.ts';
import type { RunStore } from '../ports/run-store.ts';
import { livenessOf } from './liveness.ts';
import { lastEventOf } from './read-log.ts';

/** The fields of the record that the end of a run changes. */
export type EndChange = Pick<
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

export function changeFrom({ state, code, rc, signal, duration_s, attempt, ts }: RunnerEnd): EndChange {
  return { state, code, message: null, rc, signal, duration_s, ended_at: ts, attempt };
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
