import { AcorError } from '../../../protocol/acor-error.ts';
import type { RunRecord } from '../../../protocol/run-record.ts';
import { isLive, livenessOf } from '../../run/liveness.ts';
import { wasStoppedMidway } from '../../run/retry.ts';
import type { RunRequest } from '../../run/run-request.ts';
import { childRequest } from './child-request.ts';
import { type Engine, emit, recordedFailure } from './engine.ts';
import { type FollowedChild, followChild } from './follow-child.ts';
import type { ChildTask, TaskTry } from './task.ts';

/** A host may be killed while it is asked; the key makes asking again harmless. */
const STARTS = 3;
/** A workflow whose supervisor is lost is gone on with, but not for ever. */
const MOST_RESUMPTIONS = 5;
/** Larger results stay where they are, in the child's log. */
const LARGEST_RESULT_CHARS = 4096;

/**
 * One try of a task that is a run of its own. The first one of an attempt takes up what an earlier attempt has begun: a run that goes on
 * is followed, one that is over counts as it ended.
 */
export async function runChild(engine: Engine, task: ChildTask, isFirst: boolean): Promise<TaskTry> {
  try {
    if (isFirst) {
      const unknown = await takeUp(engine, task);
      if (unknown !== undefined) return unknown;
    }
    const { isOpen, hasBegun, childRunId } = engine.history.of(task.id);
    const goesOn = isFirst && isOpen && hasBegun && (await isThere(engine, childRunId));
    const runId = goesOn ? childRunId! : await begin(engine, task, isFirst);
    return tryOf(task, await follow(engine, task, runId));
  } catch (error) {
    // It did not begin: what its arguments, its manifest or the policy say against it.
    const { code, message } = recordedFailure(error);
    return { status: 'failed', code, message, retryable: false, isUnknown: false, told: {} };
  }
}

/** What ended badly in an earlier attempt may have been mended by hand since; and it may be that nobody can say what it did. */
async function takeUp(engine: Engine, { id, work }: ChildTask): Promise<TaskTry | undefined> {
  const { done, childRunId, recordedSeq } = engine.history.of(id);
  const run = done === undefined ? undefined : await runOf(engine, childRunId);
  if (run === undefined) return undefined;
  const { record, liveness } = run;
  if (record.state === 'completed' || liveness === 'live') {
    await emit(engine, {
      type: 'task_started',
      task_id: id,
      child_run_id: childRunId,
      since_seq: recordedSeq,
    });
    return undefined;
  }
  if (work.kind !== 'tool' || engine.plan.isForced || !isUnknown(record)) return undefined;
  const message = `its run ${childRunId} was stopped mid-way (${record.code ?? record.signal}), and '${record.tool}' is not idempotent: nobody can say what it had done. If doing it again is harmless, add --force; else look at it, and resume it with --force.`;
  const told = { child_run_id: childRunId };
  return { status: 'failed', code: 'E_OUTCOME_UNKNOWN', message, retryable: false, isUnknown: true, told };
}

function isUnknown(record: RunRecord): boolean {
  return !record.idempotent && wasStoppedMidway(record);
}

/** Asks for the run, under a key that names this very try: asked twice, it is the same run. */
async function begin(engine: Engine, task: ChildTask, isFirst: boolean): Promise<string> {
  const { tries, isOpen, childRunId: before } = engine.history.of(task.id);
  const wasSubmitted = isFirst && isOpen;
  const number = wasSubmitted ? tries : tries + 1;
  const request = childRequest(engine, task, task.scope(), number);
  // What a workflow has done stays done: the next try goes on with it.
  const goesOn = task.work.kind !== 'tool' && (await isThere(engine, before)) ? before : null;
  if (!wasSubmitted) {
    const command = commandOf(task.work, request);
    const payload = { step: task.step, command, key: request.idempotencyKey };
    await emit(engine, {
      type: 'task_submitted',
      task_id: task.id,
      payload,
      ...(goesOn !== null && { child_run_id: goesOn }),
    });
  }
  const since = goesOn === null ? 0 : await eventsOf(engine, goesOn);
  const runId = goesOn === null ? await startChild(engine, request) : await goOn(engine, request, goesOn);
  const about = { task_id: task.id, child_run_id: runId, ...(since > 0 && { since_seq: since }) };
  await emit(engine, { type: 'task_started', ...about });
  return runId;
}

function commandOf({ kind }: ChildTask['work'], { tool, args }: RunRequest): string {
  if (kind === 'pipe') return args.join(' | ');
  return kind === 'tool' ? [tool, ...args].join(' ') : tool;
}

/** Has a run begin, or finds the one of the same key. */
export async function startChild({ hosts }: Pick<Engine, 'hosts'>, request: RunRequest): Promise<string> {
  for (let left = STARTS; ; left--) {
    try {
      return await hosts.start(request);
    } catch (error) {
      if (!(error instanceof AcorError) || error.code !== 'E_SPAWN_FAILED' || left === 1) throw error;
    }
  }
}

/** Goes on with a workflow that has ended too early. Somebody else may have done so already. */
async function goOn(engine: Engine, request: RunRequest, runId: string): Promise<string> {
  const { idempotencyKey: _, ...again } = request;
  try {
    const force = engine.plan.isForced;
    return await startChild(engine, { ...again, again: { runId, mode: 'resume', force } });
  } catch (error) {
    if (await isLive(engine.services.store, runId)) return runId;
    throw error;
  }
}

/** Follows the run to its end; when the workflow is to end, so is the run. */
async function follow(engine: Engine, task: ChildTask, runId: string): Promise<FollowedChild> {
  const { signal } = engine.stop;
  const { forceCancel } = engine;
  const cancel = () => void askToEnd(engine, runId, { force: forceCancel.aborted });
  if (signal.aborted) cancel();
  for (const each of [signal, forceCancel]) each.addEventListener('abort', cancel, { once: true });
  const isWorkflow = task.work.kind !== 'tool';
  try {
    for (let resumed = 0; ; resumed++) {
      const followed = await followChild(engine, task.id, runId, { isWorkflow });
      const isToGoOn = isWorkflow && followed.summary.code === 'E_RUNNER_LOST' && !signal.aborted;
      if (!isToGoOn || resumed === MOST_RESUMPTIONS) return followed;
      await goOn(engine, childRequest(engine, task, task.scope(), 0), runId);
    }
  } finally {
    for (const each of [signal, forceCancel]) each.removeEventListener('abort', cancel);
  }
}

async function askToEnd(
  { services: { store }, stop }: Engine,
  runId: string,
  options: { force: boolean },
): Promise<void> {
  try {
    const reason = String(stop.signal.reason ?? 'the workflow is ended without any more grace');
    if (await isLive(store, runId)) await store.control.requestCancel(runId, reason, options);
  } catch {
    // A run that was removed has been told so by that.
  }
}

function tryOf(task: ChildTask, { record, summary }: FollowedChild): TaskTry {
  const { state, code, message, retryable, rc, signal, result, run_id } = summary;
  const status = state === 'completed' ? 'ok' : state === 'cancelled' ? 'cancelled' : 'failed';
  const told = {
    child_run_id: run_id,
    child_rc: rc,
    child_result: resultToTell(result),
    events_count: summary.events,
  };
  return {
    status,
    code: code ?? (status === 'cancelled' ? 'E_TOOL_FAILED' : null),
    message:
      status === 'cancelled' ? `run ${run_id} was cancelled: ${message ?? 'without a reason'}` : message,
    retryable,
    // Between the end in the log and the record of it there is a moment.
    isUnknown: status !== 'ok' && task.work.kind === 'tool' && isUnknown({ ...record, code, signal }),
    told,
  };
}

function resultToTell(result: Record<string, unknown> | null): unknown {
  return JSON.stringify(result).length <= LARGEST_RESULT_CHARS
    ? result
    : { omitted: 'too large; see the log of the child' };
}

async function isThere(engine: Engine, runId: string | null): Promise<boolean> {
  return (await runOf(engine, runId)) !== undefined;
}

/** Undefined for a run that was removed: what it has done is done, but its results cannot be read. */
async function runOf({ services }: Engine, runId: string | null) {
  return runId === null ? undefined : livenessOf(services.store, runId).catch(() => undefined);
}

async function eventsOf({ services }: Engine, runId: string): Promise<number> {
  return (await services.store.read(runId)).events ?? 0;
}
