import { asText, evaluate } from '../expression/expression.ts';
import { type Engine, emit, recordedFailure } from './engine.ts';
import type { DecisionTask, TaskTry } from './task.ts';
import { actionIdOf, taskIdOf } from './task-id.ts';

/**
 * Runs one try of an `ai_decision`: a question of the workflow's own run (contract §4). The answer becomes the data of
 * the step.
 */
export async function decideTask(
  engine: Engine,
  task: DecisionTask,
  isFirst: boolean,
): Promise<TaskTry | undefined> {
  const { tries, isOpen } = engine.history.of(task.id);
  const wasSubmitted = isFirst && isOpen;
  if (!wasSubmitted && engine.stop.signal.aborted) return undefined;
  const action_id = actionIdOf(task.id, undefined, wasSubmitted ? tries : tries + 1);
  let question: Record<string, unknown>;
  try {
    question = questionOf(task);
  } catch (error) {
    const { code, message } = recordedFailure(error);
    return { ...FAILED, code, message };
  }
  if (!wasSubmitted) {
    const payload = { step: task.step, type: 'ai_decision', action_id };
    await emit(engine, { type: 'task_submitted', task_id: task.id, payload });
  }
  const decided = await engine.decisions.ask(
    { ...question, action_id, action: task.work.action, step: nameOfTask(task) },
    engine.stop.signal,
  );
  if (decided === 'stopped') return { ...FAILED, status: 'cancelled' };
  if ('answer' in decided) return { ...FAILED, status: 'ok', fields: { action_id } };
  const message = `'${action_id}' was not answered within ${decided.unansweredForS} s`;
  return { ...FAILED, code: 'E_ACTION_TIMEOUT', message };
}

/** The name of the step, with what follows it in the id of the task. */
function nameOfTask({ id, step }: DecisionTask): string {
  return `${step}${id.slice(taskIdOf(step).length)}`;
}

const FAILED: TaskTry = {
  status: 'failed',
  code: null,
  message: null,
  retryable: false,
  isUnknown: false,
  fields: {},
};

function questionOf({ work, timeoutS, scope: scopeOf }: DecisionTask): Record<string, unknown> {
  const { instruction, context, options, schema, default: fallback } = work;
  const scope = scopeOf();
  return {
    ...(instruction !== undefined && { msg: asText(evaluate(instruction, scope)) }),
    ...(context !== undefined && { context: evaluate(context, scope) }),
    ...(options.length > 0 && { options }),
    ...(schema !== undefined && { schema }),
    ...(fallback !== undefined && { default: fallback }),
    ...(timeoutS !== undefined && { timeout_s: timeoutS }),
  };
}
