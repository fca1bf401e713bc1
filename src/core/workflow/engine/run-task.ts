import { runChild } from './child-task.ts';
import { decideTask } from './decision-task.ts';
import { type Engine, emit } from './engine.ts';
import { askWhatNow, mayTryAgain, pause } from './failed-task.ts';
import type { ChildTask, DecisionTask, EngineTask, TaskTry } from './task.ts';
import type { TaskEnd } from './task-history.ts';

/** Runs one task to its end: retries it as its rules allow, and asks what to do if they say so. */
export async function runTask(engine: Engine, task: EngineTask): Promise<TaskEnd> {
  const { done } = engine.history.of(task.id);
  if (done?.status === 'ok' || done?.wasPassedOver) return done;

  for (let isFirst = true; ; isFirst = false) {
    const tried = await tryOnce(engine, task, isFirst);
    if (tried === undefined) return { status: 'cancelled', code: null, message: null, wasPassedOver: false };
    const { status, code, message, fields } = tried;
    let verdict: 'retry' | 'continue' | 'fail' = 'fail';
    if (status !== 'ok' && !engine.stop.signal.aborted) {
      if (await mayTryAgain(engine, task, tried)) {
        if (await pause(engine, task)) continue;
      } else verdict = task.onError === 'ask' ? await askWhatNow(engine, task, tried) : task.onError;
    }
    if (verdict === 'retry') continue;
    const wasPassedOver = status !== 'ok' && verdict === 'continue';
    await emit(engine, {
      type: 'task_done',
      task_id: task.id,
      status,
      ...(code !== null && { code }),
      ...(message !== null && { msg: message }),
      ...(wasPassedOver && { passed_over: true }),
      ...fields,
    });
    return { status, code, message, wasPassedOver };
  }
}

/** Undefined when the workflow ended before the task could start. */
async function tryOnce(engine: Engine, task: EngineTask, isFirst: boolean): Promise<TaskTry | undefined> {
  // A decision takes no slot while it waits for its answer.
  if (task.work.kind === 'decision') return decideTask(engine, task as DecisionTask, isFirst);
  const release = await engine.slots.take(engine.stop.signal);
  if (release === undefined) return undefined;
  try {
    return await runChild(engine, task as ChildTask, isFirst);
  } finally {
    release();
  }
}
