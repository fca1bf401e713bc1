import { existsSync } from 'node:fs';
import type { RunRecord } from '../../protocol/run-record.ts';
import { isFinal } from '../../protocol/run-state.ts';
import type { RunnerEnd } from '../../protocol/v1/runner-events.ts';
import { commandLineOf, isAlive, processesWithEnvironment, readProcess } from '../../util/process-table.ts';
import { summariseLog } from '../storage/log-summary.ts';
import { isLost } from '../storage/lost-runs.ts';
import type { RunStore, RunWriter } from '../storage/run-store.ts';
import { stopped } from './outcome.ts';
import { UNKNOWN_USAGE, writeEnding } from './write-ending.ts';

const ROUND_MS = 5;
const KILL_ROUNDS = 200;

/**
 * Ends a run whose supervisor is gone as E_RUNNER_LOST (contract §3), and returns its record as it stands then. Whoever
 * sees it first does it: the next epoch is claimed, so that it is done once. What cannot be written is still told.
 */
export async function settleIfLost(store: RunStore, record: RunRecord): Promise<RunRecord> {
  if (isFinal(record.state)) return record;
  const end = endOf(store, record.run_id);
  // Between the ending and the record of it there is a moment in which only the log knows.
  if (!isLost(record)) return end === undefined ? record : { ...record, ...changeFrom(end) };
  try {
    const writer = store.takeOver(record.run_id);
    try {
      if (end === undefined) await endAsLost(store, writer);
      else {
        writer.update({ ...changeFrom(end), events: writer.log.events }, { durable: true });
        await writer.enterInLedger(changeFrom(end));
      }
      return writer.record;
    } finally {
      writer.close();
    }
  } catch {
    // A store that cannot be written, or another process that is settling the same run: the truth is the same.
    return { ...record, ...(end === undefined ? lostChange(record) : changeFrom(end)) };
  }
}

type Change = Pick<RunRecord, 'code' | 'message' | 'rc' | 'signal' | 'ended_at'> & {
  state: RunnerEnd['state'];
};

function lostChange(record: RunRecord): Change {
  return {
    state: 'failed',
    code: 'E_RUNNER_LOST',
    message: lostMessage(record),
    rc: null,
    signal: null,
    ended_at: null,
  };
}

function changeFrom({ state, code, rc, signal, ts }: RunnerEnd): Change {
  return { state, code, message: null, rc, signal, ended_at: ts };
}

async function endAsLost(store: RunStore, writer: RunWriter): Promise<void> {
  const { record } = writer;
  await killRemains(record.run_id);
  const { removeRunGroups } = await import('../sandbox/groups/run-groups.ts');
  await removeRunGroups(record.run_id);
  if (existsSync(writer.layout.handedOver)) {
    const { giveBack } = await import('./hand-over.ts');
    await giveBack(store, writer.layout, record.run_id);
  }
  await writeEnding(writer, stopped('E_RUNNER_LOST', lostMessage(record)), {
    rc: null,
    signal: null,
    duration_s: Math.max(0, Date.now() - Date.parse(record.created_at)) / 1000,
    usage: UNKNOWN_USAGE,
    artifacts: [],
    survivors: remainsOf(record.run_id).map((pid) => ({ pid, command: commandLineOf(pid) })),
    next: [`acor resume ${record.run_id}`, `acor logs ${record.run_id}`],
    attempt: record.attempt,
  });
}

function lostMessage({ supervisor }: RunRecord): string {
  return `the supervisor of the run (process ${supervisor.pid}) is gone`;
}

/** The watchdog has killed what the supervisor left; this is for the case that it was killed as well. */
async function killRemains(runId: string): Promise<void> {
  for (let round = 0; round < KILL_ROUNDS; round++) {
    const remains = remainsOf(runId);
    if (remains.length === 0) return;
    for (const pid of remains) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // Gone by itself, or not this user's to kill: then it is told as a survivor.
      }
    }
    await new Promise((resolve) => setTimeout(resolve, ROUND_MS));
  }
}

/** The processes of a run that are alive. */
function remainsOf(runId: string): number[] {
  return processesWithEnvironment('RUN_ID', runId).filter((pid) => {
    const info = readProcess(pid);
    return info !== undefined && isAlive(info);
  });
}

function endOf(store: RunStore, runId: string): RunnerEnd | undefined {
  try {
    return summariseLog(store.layout(runId).events).end as RunnerEnd | undefined;
  } catch {
    return undefined;
  }
}
