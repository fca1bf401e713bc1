import { existsSync } from 'node:fs';
import { AcorError } from '../../protocol/acor-error.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { type FinalState, isFinal } from '../../protocol/run-state.ts';
import { errorMessage } from '../../util/error-code.ts';
import { commandLineOf, isAlive, processesWithEnvironment, readProcess } from '../../util/process-table.ts';
import type { RunStore, RunWriter } from '../ports/run-store.ts';
import { watchdogsOf } from '../process/watchdog.ts';
import { livenessOf } from './liveness.ts';
import { lastStateChange, recordedArtifacts, summariseLog } from './log-summary.ts';
import { type Outcome, stopped } from './outcome.ts';
import { changeFrom, endInLog, lostMessage, readRun } from './read-run.ts';
import { clearSecrets } from './secrets/secrets-folder.ts';
import { stepsAfter } from './steps-after.ts';
import { type RunHost, type RunWorkspace, tidyWorkspace } from './workspace.ts';
import { UNKNOWN_USAGE, writeEnding } from './write-ending.ts';

const ROUND_MS = 5;
const KILL_ROUNDS = 200;
const RECOVERY_ROUNDS = 100;
const RECOVERY_ROUND_MS = 20;

/**
 * Recovers every run whose supervisor is gone: it ends as E_RUNNER_LOST. Done by a process that starts, resumes or supervises runs, and by
 * `acor health --fix`; the cost is that of the live runs. `withoutLease` looks through all runs for those whose lease was removed. Returns the ids of the runs that were recovered.
 */
export async function recoverLostRuns(
  host: RunHost,
  { withoutLease = false }: { withoutLease?: boolean } = {},
): Promise<string[]> {
  const { store } = host;
  const held = await store.leases.list();
  const lost = held.filter(({ state }) => state === 'lost').map(({ runId }) => runId);
  if (withoutLease) lost.push(...(await runsWithoutLease(store, new Set(held.map(({ runId }) => runId)))));
  const recovered = await Promise.all(
    lost.map(async (runId) => {
      try {
        return (await recoverRun(host, runId)).lost ? [] : [runId];
      } catch (error) {
        // Nothing is left of the run but its lease.
        if (error instanceof AcorError && error.code === 'E_RUN_NOT_FOUND') await store.leases.forget(runId);
        return [];
      }
    }),
  );
  return recovered.flat();
}

async function runsWithoutLease(store: RunStore, held: ReadonlySet<string>): Promise<string[]> {
  const found: string[] = [];
  for (const runId of await store.list()) {
    if (held.has(runId)) continue;
    const run = await livenessOf(store, runId).catch(() => undefined);
    if (run?.liveness === 'lost') found.push(runId);
  }
  return found;
}

/**
 * Ends a run that has lost its supervisor as E_RUNNER_LOST (contract §3), once: the next epoch is claimed for it. Returns the record as it
 * is then; what cannot be written is reported as `readRun` reports it. A run that is live or has ended is left alone.
 */
export async function recoverRun(host: RunHost, runId: string): Promise<RunRecord & { lost?: true }> {
  const { store } = host;
  for (let round = 0; round < RECOVERY_ROUNDS; round++) {
    const { liveness } = await livenessOf(store, runId);
    // Its supervisor died between recording the end and releasing the lease.
    if (liveness === 'ended') await store.leases.forget(runId);
    if (liveness !== 'lost') break;
    try {
      await recover(host, runId);
      break;
    } catch {
      // A store that cannot be written; or another process recovers the run, and is waited for.
      if ((await store.leases.inspect(runId)) !== 'recovering') break;
    }
    await new Promise((resolve) => setTimeout(resolve, RECOVERY_ROUND_MS));
  }
  return readRun(store, runId);
}

async function recover(host: RunHost, runId: string): Promise<void> {
  const { store } = host;
  const mayTake = ({ state }: RunRecord) => {
    if (isFinal(state)) throw new Error('the run has ended meanwhile');
  };
  const writer = await store.takeOver(runId, mayTake, { recovers: true });
  try {
    const end = await endInLog(store, runId);
    if (end === undefined) await endAsLost(host, writer);
    else {
      const { state, code } = end;
      if (!(await writer.isInLedger())) await writer.enterInLedger({ state, code });
      await writer.update({ ...changeFrom(end), events: writer.log.events }, { durable: true });
    }
    tidyWorkspace(host.workspaces.of(runId));
  } finally {
    await writer.close();
  }
}

async function endAsLost(host: RunHost, writer: RunWriter): Promise<void> {
  const { store } = host;
  const { record } = writer;
  const workspace = host.workspaces.of(record.run_id);
  await killRemains(record.run_id);
  await untilUnwatched(record.run_id);
  await clearSecretsIfPossible(store, writer, workspace);
  const { removeRunGroups } = await import('../sandbox/groups/run-groups.ts');
  await removeRunGroups(record.run_id);
  if (existsSync(workspace.ownershipRecord)) {
    const { restoreOwnership } = await import('./attempt/run-user-ownership.ts');
    await restoreOwnership(host, workspace, record.run_id);
  }
  const { to: from, reason = null } = (await lastStateChange(store.tail(record.run_id))) ?? {
    to: record.state,
  };
  const outcome = isFinal(from)
    ? await recordedOutcome(store, record.run_id, from, reason)
    : stopped('E_RUNNER_LOST', lostMessage(record));
  const reported = {
    rc: null,
    signal: null,
    duration_s: Math.max(0, Date.now() - Date.parse(record.created_at)) / 1000,
    usage: UNKNOWN_USAGE,
    artifacts: outcome.state === 'completed' ? await recordedArtifacts(store, record.run_id) : [],
    survivors: remainsOf(record.run_id).map((pid) => ({ pid, command: commandOf(record, pid) })),
    result: null,
    next: stepsAfter({ ...record, ...outcome, late: true }),
    attempt: record.attempt,
    late: true,
  } as const;
  await writeEnding(writer, outcome, reported, from);
}

/** The supervisor recorded the state in which the run ends and died before it wrote the end: that state stays. */
async function recordedOutcome(
  store: RunStore,
  runId: string,
  state: FinalState,
  reason: string | null,
): Promise<Outcome> {
  const { failure, ending } = await summariseLog(store, runId);
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
async function clearSecretsIfPossible(
  store: RunStore,
  { log, record }: RunWriter,
  workspace: RunWorkspace,
): Promise<void> {
  try {
    clearSecrets(workspace);
    const { removeRedactedAnswers } = await import('./answers/redacted-answers.ts');
    await removeRedactedAnswers(store, record.run_id, workspace);
  } catch (error) {
    log.append({ type: 'runner_warning', code: 'E_STORAGE', msg: errorMessage(error) });
  }
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
