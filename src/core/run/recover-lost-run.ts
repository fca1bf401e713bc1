import { existsSync } from 'node:fs';
import { AcorError } from '../../protocol/acor-error.ts';
import { type FinalState, isFinal } from '../../protocol/run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { errorMessage } from '../../util/error-code.ts';
import { pause } from '../../util/pause.ts';
import { commandLineOf, isAlive, readProcess } from '../../util/process-table.ts';
import type { RunStore, RunWriter } from '../ports/run-store.ts';
import { send } from '../process/kill-tree.ts';
import { processesOfRun } from '../process/run-processes.ts';
import { killWatchdog, watchdogsOf } from '../process/watchdog.ts';
import { lostOutcome } from './lost-outcome.ts';
import type { Outcome } from './outcome.ts';
import { lastStateChange, recordedArtifacts, summariseLog } from './read-log.ts';
import { changeFrom, endInLog, livenessOf, readRun } from './read-run.ts';
import { isRepeatable } from './repeatable.ts';
import { clearSecrets } from './secrets/secrets-folder.ts';
import { stepsAfter } from './steps-after.ts';
import { type RunHost, type RunWorkspace, tidyWorkspace } from './workspace.ts';
import { UNKNOWN_USAGE, writeEnding } from './write-ending.ts';

const ROUND_MS = 5;
const KILL_ROUNDS = 200;
const RECOVERY_ROUNDS = 100;
const RECOVERY_ROUND_MS = 20;

/**
 * Recovers every lost run: it ends as E_RUNNER_LOST. Processes that start, resume or supervise runs call it, and `acor health --fix`. The
 * cost grows with the number of live runs only. `withoutLease` also searches all runs for lost ones without a lease. Returns the ids of
 * the recovered runs.
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
        // Only the lease of a removed run is left.
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
 * Ends a lost run as E_RUNNER_LOST (contract §3). Claiming the next epoch makes sure that only one process does so. Does nothing for a
 * run that is live or has ended. Returns the record as `readRun` reports it, also when the store cannot be written.
 */
export async function recoverRun(host: RunHost, runId: string): Promise<RunRecord & { lost?: true }> {
  const { store } = host;
  for (let round = 0; round < RECOVERY_ROUNDS; round++) {
    const { liveness } = await livenessOf(store, runId);
    // Its supervisor died after it wrote the end and before it released the lease.
    if (liveness === 'ended') await store.leases.forget(runId);
    if (liveness !== 'lost') break;
    try {
      await recover(host, runId);
      break;
    } catch {
      // Wait while another process recovers the run. Otherwise the store cannot be written: give up.
      if ((await store.leases.inspect(runId)) !== 'recovering') break;
    }
    await pause(RECOVERY_ROUND_MS);
  }
  return readRun(store, runId);
}

async function recover(host: RunHost, runId: string): Promise<void> {
  const { store } = host;
  const mayTake = ({ state }: RunRecord) => {
    if (isFinal(state)) throw new Error('another process has ended the run meanwhile');
  };
  const writer = await store.takeOver(runId, mayTake, { recovers: true });
  try {
    const end = await endInLog(store, runId);
    if (end === undefined) await endAsLost(host, writer);
    else {
      const { state, code } = end;
      // The supervisor may have died before it had fsynced its last event.
      await writer.log.sync();
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
  await killProcessesOf(record, workspace);
  await endWatchdogs(record, workspace);
  await writer.keepCheckpoints(workspace.checkpoints).catch((error) => {
    writer.log.append({
      type: 'runner_warning',
      code: 'E_STORAGE',
      msg: `the checkpoints could not be kept: ${errorMessage(error)}`,
    });
  });
  await clearSecretsIfPossible(store, writer, workspace);
  const { groupNameOf, removeRunGroups } = await import('../sandbox/groups/run-groups.ts');
  await removeRunGroups(groupNameOf({ runId: record.run_id, folder: workspace.dir }));
  const { to: from, reason = null } = (await lastStateChange(store.tail(record.run_id))) ?? {
    to: record.state,
  };
  const outcome = isFinal(from)
    ? await recordedOutcome(store, record.run_id, from, reason)
    : lostOutcome(record);
  if (existsSync(workspace.unfinishedOutputs)) {
    const { settleOutputs } = await import('./attempt/settle-outputs.ts');
    settleOutputs(writer.log, workspace, outcome.state);
  }
  if (existsSync(workspace.ownershipRecord)) await restoreOwners(host, writer, workspace);
  const reported = {
    rc: null,
    signal: null,
    duration_s: Math.max(0, Date.now() - Date.parse(record.created_at)) / 1000,
    usage: UNKNOWN_USAGE,
    artifacts: outcome.state === 'completed' ? await recordedArtifacts(store, record.run_id) : [],
    survivors: leftoversOf(record, workspace).map((pid) => ({ pid, command: commandOf(record, pid) })),
    // What the lost attempt has spent is unknown.
    cost: record.cost ?? null,
    next: stepsAfter({ ...record, ...outcome, late: true, repeatable: await isRepeatable(record, store) }),
    attempt: record.attempt,
    late: true,
  } as const;
  await writeEnding(writer, outcome, reported, { from });
}

/** A record that ACOR has not written must not prevent the end of the run. */
async function restoreOwners(
  host: RunHost,
  { log, record }: RunWriter,
  workspace: RunWorkspace,
): Promise<void> {
  try {
    const { restoreOwnership } = await import('./attempt/run-user-ownership.ts');
    await restoreOwnership(host, workspace, record.run_id);
  } catch (error) {
    if (!(error instanceof AcorError) || error.code !== 'E_INTEGRITY') throw error;
    log.append({ type: 'runner_warning', code: error.code, msg: error.message });
  }
}

/** The outcome of a run whose supervisor died after it had recorded the final state and before `runner_end`: that state is kept. */
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

/** A file that the tool made undeletable must not prevent the end of its run. */
async function clearSecretsIfPossible(
  store: RunStore,
  { log, record }: RunWriter,
  workspace: RunWorkspace,
): Promise<void> {
  try {
    clearSecrets(workspace);
    const { removeRedactedAnswers } = await import('./answers/recover-answers.ts');
    await removeRedactedAnswers(store, record.run_id, workspace);
  } catch (error) {
    log.append({ type: 'runner_warning', code: 'E_STORAGE', msg: errorMessage(error) });
  }
}

/** The command line of a process. When an argument is a secret, only the program: recovery does not know which argument to redact. */
function commandOf({ given_args }: RunRecord, pid: number): string {
  const command = commandLineOf(pid);
  return given_args === null ? command.split(' ', 1)[0]! : command;
}

/**
 * Kills the processes of the run and waits until they have ended. The watchdog does this when the supervisor dies; this is for a watchdog
 * that was killed, and for a supervisor that does not react.
 */
export async function killProcessesOf(record: RunRecord, workspace: RunWorkspace): Promise<void> {
  for (let round = 0; round < KILL_ROUNDS; round++) {
    const remains = leftoversOf(record, workspace);
    if (remains.length === 0) return;
    // A process of another user stays: the end of the run lists it as a survivor.
    for (const pid of remains) send(pid, 'SIGKILL');
    await pause(ROUND_MS);
  }
}

/** Waits for the run's watchdogs, and kills one that hangs: it would take the next attempt's processes for leftovers. */
async function endWatchdogs(record: RunRecord, workspace: RunWorkspace): Promise<void> {
  for (let round = 0; round < KILL_ROUNDS && watchdogsHere(record, workspace).length > 0; round++)
    await pause(ROUND_MS);
  // A subshell that the watchdog starts meanwhile is found in the next round.
  for (let round = 0; round < KILL_ROUNDS; round++) {
    const left = watchdogsHere(record, workspace);
    if (left.length === 0) return;
    for (const pid of left) killWatchdog(pid);
    await pause(ROUND_MS);
  }
}

function leftoversOf({ run_id: runId }: RunRecord, { dir: folder }: RunWorkspace): number[] {
  return processesOfRun({ runId, folder }).filter((pid) => {
    const info = readProcess(pid);
    return info !== undefined && isAlive(info);
  });
}

function watchdogsHere({ supervisor }: RunRecord, { dir }: RunWorkspace): number[] {
  return watchdogsOf(supervisor.pid, dir);
}
