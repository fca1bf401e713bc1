import { AcorError } from '../../protocol/acor-error.ts';
import {
  attachTo,
  previewReplay,
  readLogs,
  resumeRun,
  resumeWorkflow,
  retryRun,
  showRun,
} from '../../protocol/next-steps.ts';
import { isOrchestration } from '../../protocol/run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { identify } from '../../util/process-table.ts';
import { removePath } from '../../util/walk-tree.ts';
import type { Rerun, RerunMode } from '../ports/run-launcher.ts';
import type { RunStore, RunWriter } from '../ports/run-store.ts';
import { keepGivenAnswers, keptAnswers } from './answers/given-answers.ts';
import { endedRecord } from './follow-to-end.ts';
import type { RunPlan } from './plan/run-plan.ts';
import type { ToolPlan } from './plan/tool-plan.ts';
import { prepareRun } from './prepare-run.ts';
import { readRun } from './read-run.ts';
import { recoverRun } from './recover-lost-run.ts';
import { wasStoppedMidway, whyUnknown } from './retry.ts';
import { Run } from './run.ts';
import type { PreparedRun } from './run-executor.ts';
import type { RunRequest } from './run-request.ts';
import { clearSecrets } from './secrets/secrets-folder.ts';
import type { RunnerServices } from './services.ts';
import { prepareWorkspace, removeCancelFile, reopenFolders } from './workspace.ts';
import { enterState } from './write-ending.ts';

/** Starts the next attempt of a run that failed, was cancelled, or lost its supervisor, with the same id, workspace and answers. */
export async function reopenRun(services: RunnerServices, wanted: RunRequest, again: Rerun): Promise<Run> {
  // A caller that followed the run to its end may come here before the supervisor has written the record.
  await endedRecord(services, again.runId);
  const record = await recoverRun(services, again.runId);
  const mayTake = (now: RunRecord) => checkState(now, again);
  const request = withKeptAnswers(services, wanted, again);
  const { plan, createExecutor, again: reopening } = await prepareNext(services, request, again, record);
  // Another process may have reopened the run meanwhile.
  const writer = await services.store.takeOver(again.runId, mayTake);
  try {
    await services.store.control.reset(again.runId, writer.epoch);
    if (request.parent === undefined) keepGivenAnswers(plan, request.answers);
    reopenFolders(plan.workspace);
    prepareWorkspace(plan.workspace);
    if (again.mode === 'resume') {
      await writer.restoreCheckpoints(plan.workspace.checkpoints);
      await restoreFiledAnswers(services.store, plan);
    }
    await reopen(writer, plan, again.mode, reopening);
  } catch (error) {
    await writer.close();
    throw error;
  }
  return Run.begin(services, plan, writer, createExecutor(writer));
}

/** A resumed attempt has the answers of the earlier ones; those of its own caller win. */
function withKeptAnswers(
  { workspaces }: RunnerServices,
  request: RunRequest,
  { runId, mode }: Rerun,
): RunRequest {
  if (mode !== 'resume') return request;
  const answers = [...(request.answers ?? []), ...keptAnswers(workspaces.of(runId))];
  return answers.length === 0 ? request : { ...request, answers };
}

/** What the next attempt of a run would be; starts and writes nothing, and throws what would prevent it. */
export async function previewReopening(
  services: RunnerServices,
  request: RunRequest,
  again: Rerun,
): Promise<{ record: RunRecord; plan: RunPlan }> {
  const record = await readRun(services.store, again.runId);
  const { plan } = await prepareNext(services, request, again, record);
  return { record, plan };
}

/** Plans the next attempt of a run. Throws when its state does not allow one. */
async function prepareNext(
  services: RunnerServices,
  request: RunRequest,
  again: Rerun,
  record: RunRecord,
): Promise<PreparedRun> {
  checkState(record, again);
  const { replays } = record;
  const prepared = await prepareRun(services, {
    ...request,
    ...(replays !== null && { replays: { runId: replays, outputs: record.staged } }),
  });
  await comparePlan(services, prepared.plan, record);
  if (!prepared.plan.idempotent && wasStoppedMidway(record) && !again.force)
    throw outcomeUnknown(record, again.mode);
  return prepared;
}

/** The parts of a workflow or a pipe are runs, which are compared by themselves. */
async function comparePlan({ config }: RunnerServices, plan: RunPlan, record: RunRecord): Promise<void> {
  const { require_plan } = config.config.security;
  if (isOrchestration(record.kind) || (record.plan_digest === undefined && require_plan === 'never')) return;
  // Loaded late: most runs have no plan to compare with.
  const { checkRepeat } = await import('./plan/plan-token.ts');
  await checkRepeat(plan as ToolPlan, record, config);
}

type Reopening = NonNullable<PreparedRun['again']>;

const NO_CHANGES: Reopening = { reported: {}, change: {} };

async function restoreFiledAnswers(store: RunStore, { runId, workspace }: RunPlan): Promise<void> {
  const { restoreAnswers } = await import('./answers/recover-answers.ts');
  await restoreAnswers(store, runId, workspace);
}

async function reopen(
  writer: RunWriter,
  { workspace, caller }: RunPlan,
  mode: RerunMode,
  { reported, change }: Reopening = NO_CHANGES,
): Promise<void> {
  const { record } = writer;
  removeCancelFile(workspace);
  clearSecrets(workspace);
  if (mode === 'retry') {
    for (const path of [workspace.checkpoints, workspace.staging, workspace.answers]) removePath(path);
    prepareWorkspace(workspace);
    await writer.keepCheckpoints(workspace.checkpoints);
  }
  enterState(writer, 'queued', mode, reported);
  await writer.update({
    state: 'queued',
    attempt: record.attempt + 1,
    restarted_by: [...new Set([...(record.restarted_by ?? []), caller])],
    supervisor: identify(process.pid),
    ended_at: null,
    code: null,
    message: null,
    rc: null,
    signal: null,
    has_result: undefined,
    duration_s: null,
    ...change,
  });
}

function checkState({ run_id, state }: RunRecord, { from }: Rerun): void {
  if (state === 'failed' || state === 'cancelled' || (state === 'completed' && from !== undefined)) return;
  if (state === 'completed') {
    throw new AcorError('E_USAGE', `run ${run_id} has completed; there is nothing to resume or retry`, {
      hint: 'Show its result. A replay with execute runs it again as a new run, and compares the artifacts.',
      next: [showRun(run_id), previewReplay(run_id)],
    });
  }
  throw new AcorError('E_USAGE', `run ${run_id} has not ended (${state})`, {
    hint: 'Wait until the run ends, or cancel it first.',
    next: [attachTo(run_id)],
  });
}

function outcomeUnknown(record: RunRecord, mode: RerunMode): AcorError {
  const { run_id, kind } = record;
  const resume = kind === 'workflow' ? resumeWorkflow : resumeRun;
  const force = (mode === 'retry' ? retryRun : resume)(run_id, { force: true });
  return new AcorError('E_OUTCOME_UNKNOWN', whyUnknown(record), {
    hint: 'Inspect what the tool changed. If a repeat is harmless, add --force, or set idempotent: true in its manifest.',
    next: [readLogs(run_id), force],
  });
}
