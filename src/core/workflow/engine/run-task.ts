import { setTimeout as delay } from 'node:timers/promises';
import { errorInfo } from '../../../protocol/error-codes.ts';
import { ASK_FOR_MORE } from '../../cost/ask-for-more.ts';
import type { OverBudget } from '../../cost/run-spending.ts';
import { backoffMs } from '../../run/retry.ts';
import { runChild } from './child-task.ts';
import { decideTask } from './decision-task.ts';
import { type Engine, emit } from './engine.ts';
import { type ChildTask, type DecisionTask, doneEvent, type EngineTask, type TaskTry } from './task.ts';
import type { TaskEnd, TaskState } from './task-history.ts';
import { actionIdOf } from './task-id.ts';

/** Runs one task to its end: retries it as its rules allow, and asks what to do if they say so. */
export async function runTask(engine: Engine, task: EngineTask): Promise<TaskEnd> {
  const before = engine.history.of(task.id);
  if (isDone(before)) return before.done;

  for (let isFirst = true; ; isFirst = false) {
    const tried = await tryOnce(engine, task, isFirst);
    if (tried === undefined) return { status: 'cancelled', code: null, message: null, wasPassedOver: false };
    const { status, code, message, isUnknown, refusal, retryable } = tried;
    let verdict: 'retry' | 'continue' | 'fail' = 'fail';
    if (status !== 'ok' && !engine.stop.signal.aborted) {
      if (await mayTryAgain(engine, task, tried)) {
        if (await pause(engine, task)) continue;
      } else verdict = task.onError === 'ask' ? await askWhatNow(engine, task, tried) : task.onError;
    }
    if (verdict === 'retry' && (!isAnsweredBeforehand(engine) || (await pause(engine, task)))) continue;
    const wasPassedOver = status !== 'ok' && verdict === 'continue';
    await emit(engine, doneEvent(task.id, tried, wasPassedOver));
    return { status, code, message, wasPassedOver, isUnknown, refusal, retryable };
  }
}

/** Whether the task is not repeated: it has ended well, or its failure was passed over. */
export function isDone(task: TaskState): task is TaskState & { done: TaskEnd } {
  return task.done?.status === 'ok' || task.done?.wasPassedOver === true;
}

/** Undefined when the workflow ended before the task could start. */
async function tryOnce(engine: Engine, task: EngineTask, isFirst: boolean): Promise<TaskTry | undefined> {
  // A decision takes no slot while it waits for its answer.
  if (task.work.kind === 'decision') return decideTask(engine, task as DecisionTask, isFirst);
  const release = await engine.slots.take(engine.stop.signal);
  if (release === undefined) return undefined;
  try {
    if (!engine.plan.mayCost(task as ChildTask)) return await runChild(engine, task as ChildTask, isFirst);
    return await runWithinLimit(engine, task as ChildTask, isFirst);
  } finally {
    release();
  }
}

/**
 * Runs a child that may cost money. When it was stopped at the limit of the workflow, and a person allows more, it runs again: an answer that
 * was given beforehand was not meant for a repetition.
 */
async function runWithinLimit(
  engine: Engine,
  task: ChildTask,
  isFirst: boolean,
): Promise<TaskTry | undefined> {
  const { costs, decisions, stop, writer } = engine;
  let stopped: TaskTry | undefined;
  for (;;) {
    const over = await costs.reserve(task.id, stop.signal);
    if (over === 'stopped') return stopped;
    if (over !== undefined) return overLimit(over, stopped);
    try {
      const tried = await runChild(engine, task, isFirst && stopped === undefined);
      const overNow = wasStoppedForCost(task, tried) ? costs.overAfter(task.id) : undefined;
      if (overNow === undefined) return tried;
      if (decisions.isAnsweredBeforehand(ASK_FOR_MORE)) return overLimit(overNow, tried);
      stopped = tried;
    } finally {
      costs.settle(task.id, undefined);
    }
    const msg = `'${task.id}' was stopped at the limit of cost. When the workflow may spend more, it runs again from its beginning`;
    writer.log.append({ type: 'runner_warning', msg, task_id: task.id });
  }
}

/** A sub-workflow asks at its limit itself. A stage of a pipe is held to its share, not to the rest. */
function wasStoppedForCost({ work }: ChildTask, { code, isUnknown }: TaskTry): boolean {
  return code === 'E_BUDGET' && !isUnknown && work.kind === 'tool';
}

function overLimit({ usd, limit }: OverBudget, stopped: TaskTry | undefined): TaskTry {
  return {
    ...{
      status: 'failed',
      code: 'E_BUDGET',
      retryable: false,
      isUnknown: false,
      fields: stopped?.fields ?? {},
    },
    message: `the workflow has cost ${usd} USD; ${limit.by} allows ${limit.usd}`,
    refusal: { hint: `Raise ${limit.by} if more may be spent.` },
  };
}

const MAX_BACKOFF_S = 300;
/** Without an answer, or with one that was given beforehand, ACOR retries this many times, because no one looks at what happens. */
const MOST_RETRIES_UNATTENDED = 3;
const ASKED = 'step_failed';

const OPTIONS = [
  { id: 'retry', label: 'Try it again' },
  { id: 'continue', label: 'Leave it failed, and go on as if it had not' },
  { id: 'fail', label: 'End the workflow' },
];

/** Whether the step's retry rule allows another try. */
async function mayTryAgain(engine: Engine, { id, retry }: EngineTask, tried: TaskTry): Promise<boolean> {
  const { tries, triesBefore } = engine.history.of(id);
  if (tried.status !== 'failed' || tried.code === null || tries - triesBefore > retry.max) return false;
  // The outcome is unknown and a repeat may do harm, so only a rule that names the exact code allows it.
  if (retry.on.includes(tried.code)) return true;
  if (tried.isUnknown) return false;
  const info = errorInfo(tried.code, await engine.services.registry.errorCodes());
  if (info !== undefined && retry.on.includes(info.class)) return true;
  return retry.on.includes('retryable') && (tried.retryable || info?.retryable === true);
}

/** Waits before the next try. Returns false when the workflow ended during the wait. */
async function pause({ history, stop: { signal } }: Engine, { id, retry }: EngineTask): Promise<boolean> {
  const { tries, triesBefore } = history.of(id);
  const rule = { backoffS: retry.backoffS, maxBackoffS: MAX_BACKOFF_S };
  await delay(backoffMs(tries - triesBefore, rule), undefined, { signal }).catch(() => undefined);
  return !signal.aborted;
}

/**
 * `on_error: ask`: asks what to do about the failure. Without an answer, the error table's recommendation applies. An answer that was given
 * beforehand answers each try alike, so that its step would be tried without end.
 */
async function askWhatNow(
  engine: Engine,
  { id }: EngineTask,
  { code, message, fields }: TaskTry,
): Promise<'retry' | 'continue' | 'fail'> {
  const { tries, triesBefore } = engine.history.of(id);
  const info = errorInfo(code ?? 'E_UNKNOWN', await engine.services.registry.errorCodes());
  const isLastUnattended = tries - triesBefore > MOST_RETRIES_UNATTENDED;
  if (isLastUnattended && isAnsweredBeforehand(engine)) {
    await emit(engine, {
      type: 'runner_warning',
      msg: `'${id}' failed ${tries - triesBefore} times. An answer to ${ASKED} that was given beforehand holds for ${MOST_RETRIES_UNATTENDED} retries of a step, so the step fails`,
      task_id: id,
    });
    return 'fail';
  }
  const mayRetry = info?.retryable === true && !isLastUnattended;
  const { child_run_id = null } = fields;
  const decided = await engine.decisions.ask(
    {
      action_id: actionIdOf(id, 'failed', tries),
      action: ASKED,
      msg: `'${id}' failed: ${message ?? code}`,
      context: { task_id: id, code, message, child_run_id, recommended: info?.action ?? null },
      options: OPTIONS,
      default: mayRetry ? 'retry' : 'fail',
    },
    engine.stop.signal,
  );
  const answer = typeof decided === 'object' && 'answer' in decided ? decided.answer : 'fail';
  return answer === 'retry' || answer === 'continue' ? answer : 'fail';
}

function isAnsweredBeforehand({ decisions }: Engine): boolean {
  return decisions.isAnsweredBeforehand(ASKED);
}
