import { AcorError } from '../../../protocol/acor-error.ts';
import type { RunRecord } from '../../../protocol/run-record.ts';
import type { LaunchRequest } from '../../ports/run-launcher.ts';
import { isLive, livenessOf } from '../../run/read-run.ts';
import { hasResult, wasStoppedMidway, whyUnknown } from '../../run/retry.ts';
import type { RunSummary } from '../../run/run-summary.ts';
import { remediesAmong } from '../../run/steps-after.ts';
import { childRequest } from './child-request.ts';
import { AT_DEADLINE, type Engine, emit, recordedFailure } from './engine.ts';
import { type FollowedChild, followChild } from './follow-child.ts';
import { type ChildTask, doneEvent, type TaskTry } from './task.ts';

/** A host process may be killed during a start. The idempotency key makes the repeated start safe. */
const STARTS = 3;
/** A sub-workflow whose supervisor is lost is resumed at most this many times. */
const MOST_RESUMPTIONS = 5;
/** A larger result stays in the child's log. */
const LARGEST_RESULT_CHARS = 4096;

/**
 * Runs one try of a task as a child run. The first try of an attempt adopts what an earlier attempt started: it follows
 * a live child, and takes the outcome of one that has ended.
 */
export async function runChild(engine: Engine, task: ChildTask, isFirst: boolean): Promise<TaskTry> {
  try {
    if (isFirst) {
      const unknown = await takeUp(engine, task);
      if (unknown !== undefined) return unknown;
    }
    const { isOpen, hasBegun, childRunId } = engine.history.of(task.id);
    const wasSubmitted = isFirst && isOpen;
    const goesOn = wasSubmitted && hasBegun && (await isThere(engine, childRunId));
    const runId = goesOn ? childRunId! : await begin(engine, task, isFirst);
    const endedBefore = wasSubmitted && (await isOver(engine, task, runId));
    const followed = await follow(engine, task, runId);
    engine.launcher.ended(runId);
    engine.costs.add(followed.record);
    const tried = tryOf(engine, task, followed);
    if (!endedBefore || tried.status === 'ok' || engine.stop.signal.aborted) return tried;
    // Only a rule of the step, or a person, lets what it did be done again.
    if (tried.isUnknown && !engine.plan.isForced) return tried;
    // It failed while the workflow had no supervisor, so this is a failure of the attempt before.
    await emit(engine, doneEvent(task.id, tried));
    return await runChild(engine, task, isFirst);
  } catch (error) {
    // The child did not start: its arguments, its manifest or the policy are invalid.
    const refusal = recordedFailure(error);
    const { code, message } = refusal;
    return { status: 'failed', code, message, retryable: false, isUnknown: false, fields: {}, refusal };
  }
}

/**
 * Adopts the child of an earlier attempt. The user may have resumed a failed child in the meantime; an interrupted
 * child that is not idempotent has an unknown outcome.
 */
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
  const message = `its ${whyUnknown(record)}`;
  const fields = { child_run_id: childRunId };
  return { status: 'failed', code: 'E_OUTCOME_UNKNOWN', message, retryable: false, isUnknown: true, fields };
}

/** Whether this attempt finds only the end of a child. A lost sub-workflow or pipe continues instead. */
async function isOver({ services }: Engine, { work }: ChildTask, runId: string): Promise<boolean> {
  const { liveness } = await livenessOf(services.store, runId);
  return liveness === 'ended' || (liveness === 'lost' && work.kind === 'tool');
}

function isUnknown(record: RunRecord): boolean {
  return !record.idempotent && wasStoppedMidway(record);
}

/** Starts the child under an idempotency key that identifies this try, so a repeated start returns the same run. */
async function begin(engine: Engine, task: ChildTask, isFirst: boolean): Promise<string> {
  const { tries, isOpen, childRunId: before } = engine.history.of(task.id);
  const wasSubmitted = isFirst && isOpen;
  const number = wasSubmitted ? tries : tries + 1;
  const request = childRequest(engine, task, task.scope(), number);
  // Completed steps of a sub-workflow stay completed: the next try resumes it.
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

function commandOf({ kind }: ChildTask['work'], { tool, args }: LaunchRequest): string {
  if (kind === 'pipe') return args.join(' | ');
  return kind === 'tool' ? [tool, ...args].join(' ') : tool;
}

/** Starts a run, or finds the run with the same idempotency key. */
export async function startChild(
  { launcher }: Pick<Engine, 'launcher'>,
  request: LaunchRequest,
): Promise<string> {
  for (let left = STARTS; ; left--) {
    try {
      return await launcher.start(request);
    } catch (error) {
      if (!(error instanceof AcorError) || error.code !== 'E_SPAWN_FAILED' || left === 1) throw error;
    }
  }
}

/** Resumes a sub-workflow that ended early. Another process may already have resumed it. */
async function goOn(engine: Engine, request: LaunchRequest, runId: string): Promise<string> {
  const { idempotencyKey: _, ...again } = request;
  try {
    const force = engine.plan.isForced;
    return await startChild(engine, { ...again, again: { runId, mode: 'resume', force } });
  } catch (error) {
    if (await isLive(engine.services.store, runId)) return runId;
    throw error;
  }
}

/** Follows the child to its end, and cancels it when the workflow ends. */
async function follow(engine: Engine, task: ChildTask, runId: string): Promise<FollowedChild> {
  const { signal } = engine.stop;
  const { forceCancel } = engine;
  const cancel = () => void askToEnd(engine, runId, { force: forceCancel.aborted });
  if (signal.aborted) cancel();
  for (const each of [signal, forceCancel]) each.addEventListener('abort', cancel, { once: true });
  const isWorkflow = task.work.kind !== 'tool';
  try {
    for (let resumed = 0; ; resumed++) {
      const followed = await followChild(engine, task.id, runId, {
        isWorkflow,
        recorded: engine.launcher.recorded(runId),
      });
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
    const reason = String(stop.signal.reason ?? 'the workflow was cancelled by force');
    if (await isLive(store, runId)) await store.control.requestCancel(runId, reason, options);
  } catch {
    // The child was removed, so there is nothing to cancel.
  }
}

function tryOf(engine: Engine, task: ChildTask, { record, summary }: FollowedChild): TaskTry {
  const { state, code, message, retryable, rc, signal, result, run_id } = summary;
  const status = state === 'completed' ? 'ok' : state === 'cancelled' ? 'cancelled' : 'failed';
  const fields = {
    child_run_id: run_id,
    child_rc: rc,
    child_result: recordedResult(result),
    events_count: summary.events,
  };
  return {
    status,
    code: code ?? (status === 'cancelled' ? codeOfCancel(engine) : null),
    message:
      status === 'cancelled' ? `run ${run_id} was cancelled: ${message ?? 'without a reason'}` : message,
    retryable,
    // The log has the end of the run a moment before the record has it.
    isUnknown:
      status !== 'ok' &&
      (task.work.kind === 'tool'
        ? isUnknown({ ...record, code, signal, has_result: hasResult(state, result) })
        : code === 'E_OUTCOME_UNKNOWN'),
    fields,
    refusal: refusalWithin(summary),
  };
}

/** Of a sub-workflow or a pipe: one of its own steps was refused. */
function refusalWithin({ next }: RunSummary): TaskTry['refusal'] {
  const remedies = remediesAmong(next);
  return remedies.length === 0 ? undefined : { next: remedies };
}

/** A step that was cancelled while the workflow goes on counts as failed. */
function codeOfCancel({ stop: { signal } }: Engine): string | null {
  if (!signal.aborted) return 'E_TOOL_FAILED';
  return signal.reason === AT_DEADLINE ? 'E_DEADLINE' : null;
}

function recordedResult(result: Record<string, unknown> | null): unknown {
  return JSON.stringify(result).length <= LARGEST_RESULT_CHARS
    ? result
    : { omitted: 'too large; see the log of the child' };
}

async function isThere(engine: Engine, runId: string | null): Promise<boolean> {
  return (await runOf(engine, runId)) !== undefined;
}

/** Undefined for a removed run: its work is done, but its results cannot be read. */
async function runOf({ services }: Engine, runId: string | null) {
  return runId === null ? undefined : livenessOf(services.store, runId).catch(() => undefined);
}

async function eventsOf({ services }: Engine, runId: string): Promise<number> {
  return (await services.store.read(runId)).events ?? 0;
}
