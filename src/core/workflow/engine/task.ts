import type { Scope } from '../expression/expression.ts';
import type { RunExecutor, StepCommon } from '../model.ts';
import { runChild } from './child-task.ts';
import { decideTask } from './decision-task.ts';
import { type Engine, emit } from './engine.ts';
import { askWhatNow, mayTryAgain, pause } from './failed-task.ts';
import type { TaskStatus } from './task-history.ts';

/** One piece of work of a step: the step itself, an item of a `foreach`, or a task of a `parallel`. */
export interface EngineTask extends Pick<StepCommon, 'retry' | 'onError' | 'timeoutS'> {
  id: string;
  /** The step that it belongs to. */
  step: string;
  work: Exclude<RunExecutor, { kind: 'parallel' }>;
  /** What its expressions may read. */
  scope(): Scope;
}

export type ChildTask = EngineTask & { work: Extract<RunExecutor, { kind: 'tool' | 'workflow' | 'pipe' }> };
export type DecisionTask = EngineTask & { work: Extract<RunExecutor, { kind: 'decision' }> };

/** How one try of a task came out. */
export interface TaskTry {
  status: Exclude<TaskStatus, 'skipped'>;
  code: string | null;
  message: string | null;
  retryable: boolean;
  /** Nobody can say what it had done by then, and doing it twice may do harm. */
  isUnknown: boolean;
  /** What else its end tells. */
  told: Record<string, unknown>;
}

/** How a task ended. */
export interface TaskOutcome {
  status: Exclude<TaskStatus, 'skipped'>;
  code: string | null;
  message: string | null;
  wasPassedOver: boolean;
}

/** Sees one task through: tries it as often as its rules allow, asks what to do if they say so, and tells how it ended. */
export async function runTask(engine: Engine, task: EngineTask): Promise<TaskOutcome> {
  const { done } = engine.history.of(task.id);
  if (done?.status === 'ok' || done?.wasPassedOver)
    return { ...done, status: done.status as TaskOutcome['status'] };
  for (let isFirst = true; ; isFirst = false) {
    const tried = await tryOnce(engine, task, isFirst);
    if (tried === undefined) return { status: 'cancelled', code: null, message: null, wasPassedOver: false };
    const { status, code, message, told } = tried;
    let verdict: 'retry' | 'continue' | 'fail' = 'fail';
    if (status !== 'ok' && !engine.stop.signal.aborted) {
      if (await mayTryAgain(engine, task, tried)) {
        if (await pause(engine, task)) continue;
      } else verdict = task.onError === 'ask' ? await askWhatNow(engine, task, tried) : task.onError;
    }
    if (verdict === 'retry') continue;
    const wasPassedOver = status !== 'ok' && verdict === 'continue';
    emit(engine, {
      type: 'task_done',
      task_id: task.id,
      status,
      ...(code !== null && { code }),
      ...(message !== null && { msg: message }),
      ...(wasPassedOver && { passed_over: true }),
      ...told,
    });
    return { status, code, message, wasPassedOver };
  }
}

/** Undefined when the workflow ended before the task could begin. */
async function tryOnce(engine: Engine, task: EngineTask, isFirst: boolean): Promise<TaskTry | undefined> {
  // Whoever asks does no work meanwhile.
  if (task.work.kind === 'decision') return decideTask(engine, task as DecisionTask, isFirst);
  const release = await engine.slots.take(engine.stop.signal);
  if (release === undefined) return undefined;
  try {
    return await runChild(engine, task as ChildTask, isFirst);
  } finally {
    release();
  }
}
