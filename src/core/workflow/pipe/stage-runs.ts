import { AcorError } from '../../../protocol/acor-error.ts';
import { readLogs, resumeRun } from '../../../protocol/next-steps.ts';
import { kindOfName } from '../../../protocol/run.ts';
import type { RunRecord } from '../../../protocol/run-record.ts';
import { traceVariables } from '../../../util/ids.ts';
import type { LaunchRequest } from '../../ports/run-launcher.ts';
import { endedRecord, followToEnd } from '../../run/follow-to-end.ts';
import { isLive } from '../../run/read-run.ts';
import { recoverRun } from '../../run/recover-lost-run.ts';
import { wasStoppedMidway, whyUnknown } from '../../run/retry.ts';
import { keyedCall } from '../../run/start-run.ts';
import { startChild } from '../engine/child-task.ts';
import { emit } from '../engine/engine.ts';
import type { Pipe } from './plan-pipe.ts';

/**
 * Decides which runs of an earlier attempt this attempt keeps, by stage, and returns the last completed stage. A
 * completed stage and all stages before it do not run again. Live stages after it are followed. From the first stage
 * that is neither, all stages start again, because their input would come from a different run.
 */
export async function takeUpStages(pipe: Pipe): Promise<{ kept: (string | undefined)[]; done: number }> {
  const { services, plan } = pipe;
  const records: (RunRecord | undefined)[] = [];
  for (const index of plan.stages.keys()) {
    const runId = await startedRun(pipe, index);
    records.push(runId === null ? undefined : await recordOf(services, runId));
  }
  const done = records.findLastIndex((record) => record?.state === 'completed');
  let fresh = done + 1;
  while (await isGoingOn(services, records[fresh])) fresh++;
  for (const before of records.slice(fresh)) {
    if (before === undefined) continue;
    const record = await endedRun(services, before);
    if (!plan.isForced && !record.idempotent && wasStoppedMidway(record)) throw outcomeUnknown(record);
  }
  return { kept: records.map((record, index) => (index < fresh ? record?.run_id : undefined)), done };
}

/** The run of a stage. One that was submitted may have started before the pipe could record that. */
async function startedRun(pipe: Pipe, index: number): Promise<string | null> {
  const { services, plan, history } = pipe;
  const { taskId } = plan.stages[index]!;
  const { childRunId, isOpen, tries } = history.of(taskId);
  if (childRunId !== null || !isOpen) return childRunId;
  const runId = await services.store.runOfKey(keyedCall(requestOf(pipe, index, undefined, tries))!);
  if (runId === undefined) return null;
  await emit(pipe, { type: 'task_started', task_id: taskId, child_run_id: runId });
  return runId;
}

async function isGoingOn({ store }: Pipe['services'], record: RunRecord | undefined): Promise<boolean> {
  return record !== undefined && isLive(store, record.run_id);
}

/** Ends the run first: two runs of one stage must not work at once. */
async function endedRun(services: Pipe['services'], record: RunRecord): Promise<RunRecord> {
  const { store, workspaces } = services;
  if (!(await isLive(store, record.run_id))) return record;
  await store.control.requestCancel(record.run_id, 'the pipe restarts from an earlier stage');
  for await (const _ of followToEnd(store, record.run_id, { since: 0, recoversIn: workspaces }));
  return endedRecord(services, record.run_id);
}

/** Undefined for a run that was removed. */
async function recordOf(services: Pipe['services'], runId: string): Promise<RunRecord | undefined> {
  try {
    return await recoverRun(services, runId);
  } catch (error) {
    if (error instanceof AcorError && error.code === 'E_RUN_NOT_FOUND') return undefined;
    throw error;
  }
}

function outcomeUnknown(record: RunRecord): AcorError {
  const { run_id, parent } = record;
  const pipe = parent?.run_id ?? '';
  return new AcorError('E_OUTCOME_UNKNOWN', whyUnknown(record), {
    hint: 'Inspect what the tool changed. If a repeat is harmless, add --force, or set idempotent: true in its manifest.',
    next: [readLogs(run_id), resumeRun(pipe, { force: true })],
  });
}

/**
 * Starts the run of a stage, which reads the records of the run before it, and returns the run id. The idempotency key
 * makes a repeated start return the same run.
 */
export async function beginStage(pipe: Pipe, index: number, before: string | undefined): Promise<string> {
  const { plan, history } = pipe;
  const { taskId, tool, args } = plan.stages[index]!;
  const { tries, isOpen, childRunId } = history.of(taskId);
  const wasSubmitted = isOpen && childRunId === null;
  const request = requestOf(pipe, index, before, wasSubmitted ? tries : tries + 1);
  if (!wasSubmitted) {
    const payload = { command: [tool, ...args].join(' '), key: request.idempotencyKey };
    await emit(pipe, { type: 'task_submitted', task_id: taskId, payload });
  }
  const runId = await startChild(pipe, request);
  await emit(pipe, { type: 'task_started', task_id: taskId, child_run_id: runId });
  return runId;
}

function requestOf(
  { plan, writer }: Pipe,
  index: number,
  before: string | undefined,
  number: number,
): LaunchRequest {
  const { stages, callerEnv, answers, caller, cwd } = plan;
  const { taskId, tool, args, mayCost } = stages[index]!;
  const { run_id } = writer.record;
  // The stages work at once, so that each gets its part from the start.
  const parts = stages.filter((stage) => stage.mayCost).length;
  const limit = mayCost ? plan.cost.limit : null;
  return {
    kind: kindOfName(tool),
    tool,
    args,
    cwd,
    env: { ...callerEnv, ...traceVariables(plan) },
    parent: { run_id, task_id: taskId },
    idempotencyKey: `${run_id}/${taskId}/${number}`,
    answers,
    // Records that a stage has already passed on cannot be recalled.
    retries: 0,
    ...(limit !== null && { maxCostUsd: limit.usd / parts }),
    ...(before !== undefined && { reads: { run_id: before, form: stages[index - 1]!.form } }),
    ...(index < stages.length - 1 && { isRead: true }),
    ...(caller !== null && { caller }),
  };
}
