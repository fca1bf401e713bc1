import { existsSync } from 'node:fs';
import type { RunRecord } from '../../protocol/run-record.ts';
import { type FinalState, isFinal } from '../../protocol/run-state.ts';
import type { RunnerEnd } from '../../protocol/v1/runner-events.ts';
import { errorMessage } from '../../util/error-code.ts';
import { commandLineOf, isAlive, processesWithEnvironment, readProcess } from '../../util/process-table.ts';
import { watchdogsOf } from '../process/watchdog.ts';
import { lastStateChange, recordedArtifacts, summariseLog } from '../store-files/log-summary.ts';
import { isLost } from '../store-files/lost-runs.ts';
import type { RunStore, RunWriter } from '../store-files/run-store.ts';
import { clearSecrets } from '../store-files/secrets-folder.ts';
import { type Outcome, stopped } from './outcome.ts';
import { stepsAfter } from './steps-after.ts';
import { UNKNOWN_USAGE, writeEnding } from './write-ending.ts';

const ROUND_MS = 5;
const KILL_ROUNDS = 200;
const SETTLE_ROUNDS = 100;
const SETTLE_ROUND_MS = 20;

/**
 * Ends a run whose supervisor is gone as E_RUNNER_LOST (contract §3), and returns its record as it stands then. Whoever
 * sees it first does it: the next epoch is claimed, so that it is done once. What cannot be written is still told.
 */
export async function recoverIfLost(store: RunStore, record: RunRecord): Promise<RunRecord> {
  if (isFinal(record.state)) return record;
  // Between the ending and the record of it there is a moment in which only the log knows.
  if (!isLost(record)) return { ...record, ...changeFrom(endOf(store, record.run_id)) };
  const { dir } = store.layout(record.run_id);
  const work = settling.get(dir) ?? settle(store, record).finally(() => settling.delete(dir));
  settling.set(dir, work);
  return work;
}

/** The runs that this process is settling: an epoch keeps other processes away, not this one. */
const settling = new Map<string, Promise<RunRecord>>();

async function settle(store: RunStore, record: RunRecord): Promise<RunRecord> {
  // Another process may have settled it in the meantime, and a third one gone on with it.
  let elsewhere: RunRecord | undefined;
  const mustBeLost = (now: RunRecord) => {
    if (isLost(now)) return;
    elsewhere = now;
    throw new Error('it is not lost any more');
  };
  try {
    const writer = store.takeOver(record.run_id, mustBeLost);
    try {
      const end = endOf(store, record.run_id);
      if (end === undefined) await endAsLost(store, writer);
      else {
        const { state, code } = end;
        if (!writer.isInLedger()) await writer.enterInLedger({ state, code });
        writer.update({ ...changeFrom(end), events: writer.log.events }, { durable: true });
      }
      return writer.record;
    } finally {
      writer.close();
    }
  } catch {
    if (elsewhere !== undefined) return elsewhere;
    // A store that cannot be written, or another process that is settling the same run: the truth is the same.
    return { ...record, ...(changeFrom(endOf(store, record.run_id)) ?? lostChange(record)) };
  }
}

/** The record of a run that is not lost (any more): another process may be settling it at this moment, and is waited for. */
export async function settled(store: RunStore, runId: string): Promise<RunRecord> {
  for (let round = 0; round < SETTLE_ROUNDS; round++) {
    await recoverIfLost(store, store.read(runId));
    const record = store.read(runId);
    if (!isLost(record)) return record;
    await new Promise((resolve) => setTimeout(resolve, SETTLE_ROUND_MS));
  }
  return store.read(runId);
}

type Change = Pick<
  RunRecord,
  'code' | 'message' | 'rc' | 'signal' | 'duration_s' | 'ended_at' | 'attempt'
> & { state: RunnerEnd['state'] };

function lostChange(record: RunRecord): Change {
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

function changeFrom(end: RunnerEnd): Change;
function changeFrom(end: RunnerEnd | undefined): Change | undefined;
function changeFrom(end: RunnerEnd | undefined): Change | undefined {
  if (end === undefined) return undefined;
  const { state, code, rc, signal, duration_s, attempt, ts } = end;
  return { state, code, message: null, rc, signal, duration_s, ended_at: ts, attempt };
}

async function endAsLost(store: RunStore, writer: RunWriter): Promise<void> {
  const { record, layout } = writer;
  await killRemains(record.run_id);
  await untilUnwatched(record.run_id);
  await clearSecretsIfPossible(writer);
  const { removeRunGroups } = await import('../sandbox/groups/run-groups.ts');
  await removeRunGroups(record.run_id);
  if (existsSync(layout.ownershipRecord)) {
    const { restoreOwnership } = await import('./attempt/run-user-ownership.ts');
    await restoreOwnership(store, layout, record.run_id);
  }
  const { to: from, reason = null } = lastStateChange(layout.events) ?? { to: record.state };
  const outcome = isFinal(from)
    ? recordedOutcome(layout.events, from, reason)
    : stopped('E_RUNNER_LOST', lostMessage(record));
  const reported = {
    rc: null,
    signal: null,
    duration_s: Math.max(0, Date.now() - Date.parse(record.created_at)) / 1000,
    usage: UNKNOWN_USAGE,
    artifacts: outcome.state === 'completed' ? recordedArtifacts(layout.events) : [],
    survivors: remainsOf(record.run_id).map((pid) => ({ pid, command: commandOf(record, pid) })),
    next: stepsAfter({ ...record, ...outcome, late: true }),
    attempt: record.attempt,
    late: true,
  } as const;
  await writeEnding(writer, outcome, reported, from);
}

/** The supervisor has told the state in which the run ends and died before it wrote the end: what was told stays. */
function recordedOutcome(path: string, state: FinalState, reason: string | null): Outcome {
  const { failure, ending } = summariseLog(path);
  const message = failure?.msg ?? ending?.msg ?? ending?.reason;
  return {
    state,
    code: state === 'failed' ? reason : null,
    message: state !== 'completed' && typeof message === 'string' ? message : null,
    hint: null,
    retryable: failure?.retryable === true,
    byRunner: false,
  };
}

/** What a tool has made undeletable must not keep its run from ending. */
async function clearSecretsIfPossible({ layout, log }: RunWriter): Promise<void> {
  try {
    clearSecrets(layout);
    const { removeRedactedAnswers } = await import('../store-files/redacted-answers.ts');
    await removeRedactedAnswers(layout);
  } catch (error) {
    log.append({ type: 'runner_warning', code: 'E_STORAGE', msg: errorMessage(error) });
  }
}

function lostMessage({ supervisor }: RunRecord): string {
  return `the supervisor of the run (process ${supervisor.pid}) is gone`;
}

/** Where a secret is among the arguments, and nobody is left who knows which one it is, the program alone is told. */
function commandOf({ given_args }: RunRecord, pid: number): string {
  const command = commandLineOf(pid);
  return given_args === null ? command.split(' ', 1)[0]! : command;
}

/** The watchdog has killed what the supervisor left; this is for the case that it was killed as well. */
async function killRemains(runId: string): Promise<void> {
  for (let round = 0; round < KILL_ROUNDS; round++) {
    const remains = remainsOf(runId);
    if (remains.length === 0) return;
    for (const pid of remains) kill(pid);
    await new Promise((resolve) => setTimeout(resolve, ROUND_MS));
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Gone by itself, or not this user's to kill: then it is told as a survivor.
  }
}

/** A watchdog that still looks for what the dead supervisor left would take the next attempt for it; one that hangs is ended. */
async function untilUnwatched(runId: string): Promise<void> {
  for (let round = 0; round < KILL_ROUNDS && watchdogsOf(runId).length > 0; round++)
    await new Promise((resolve) => setTimeout(resolve, ROUND_MS));
  for (const pid of watchdogsOf(runId)) kill(pid);
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
