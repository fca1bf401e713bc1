import { AcorError } from '../../../protocol/acor-error.ts';
import { expressionsOf } from '../check/checked-file.ts';
import { evaluate, type Scope } from '../expression/expression.ts';
import type { Step, Task } from '../model.ts';
import { type Engine, emit, recordedFailure } from './engine.ts';
import { isDone, runTask } from './run-task.ts';
import type { StepEnd, StepResults } from './step-results.ts';
import type { TaskEnd } from './task-history.ts';
import { taskIdOf } from './task-id.ts';

interface Item {
  item: unknown;
  index: number;
}

/** Runs a step: one task, or many tasks with a concurrency limit. */
export async function runStep(engine: Engine, results: StepResults, step: Step): Promise<StepEnd> {
  const id = taskIdOf(step.name);
  try {
    const { once, eachItem } = expressionsOf(step);
    const scopeOf = await results.scopeFor(isFinished(engine, step) ? [] : [...once, ...eachItem]);
    if (step.foreach === undefined) return await runOnce(engine, scopeOf, step, id, undefined);
    const items = itemsOf(step, scopeOf());
    const each = (item: unknown, index: number) =>
      runOnce(engine, scopeOf, step, `${id}[${index}]`, { item, index });
    return together(
      await inTurn(items, step.foreach.maxConcurrency ?? engine.plan.workflow.maxConcurrency, each),
      step,
    );
  } catch (error) {
    return refused(engine, step, id, error);
  }
}

/** Whether an earlier attempt has finished all tasks of a step, so that nothing reads its expressions. Of items only the list says how many there are. */
export function isFinished({ history }: Engine, step: Step): boolean {
  if (step.foreach !== undefined) return false;
  const id = taskIdOf(step.name);
  const ids = step.kind === 'parallel' ? step.tasks.map(({ name }) => `${id}.${taskIdOf(name)}`) : [id];
  return ids.every((each) => isDone(history.of(each)));
}

async function runOnce(
  engine: Engine,
  scopeOf: (item?: Item) => Scope,
  step: Step,
  id: string,
  item: Item | undefined,
): Promise<StepEnd> {
  const scope = () => scopeOf(item);
  if (step.kind !== 'parallel') {
    const outcome = await runTask(engine, { ...step, id, step: step.name, work: step, scope });
    return single(id, outcome, step.kind === 'decision');
  }
  const each = async (task: Task): Promise<StepEnd> => {
    const taskId = `${id}.${taskIdOf(task.name)}`;
    // A task inherits from its step what it does not set itself.
    const onError = task.onError === 'fail' ? step.onError : task.onError;
    const retry = task.retry.max === 0 ? step.retry : task.retry;
    const outcome = await runTask(engine, {
      ...task,
      onError,
      retry,
      timeoutS: task.timeoutS ?? step.timeoutS,
      id: taskId,
      step: step.name,
      work: task,
      scope,
    });
    return single(taskId, outcome, false);
  };
  return together(
    await inTurn(step.tasks, step.maxConcurrency ?? engine.plan.workflow.maxConcurrency, each),
    step,
  );
}

/** Runs the tasks with a concurrency limit. After a failure that ends the workflow, no more tasks start. */
async function inTurn<T>(
  items: readonly T[],
  atOnce: number,
  each: (item: T, index: number) => Promise<StepEnd>,
): Promise<(StepEnd | undefined)[]> {
  const outcomes: (StepEnd | undefined)[] = new Array(items.length).fill(undefined);
  let next = 0;
  let isOver = false;
  const work = async () => {
    while (next < items.length && !isOver) {
      const index = next++;
      const outcome = await each(items[index]!, index);
      outcomes[index] = outcome;
      if (outcome.fatal !== undefined || outcome.state === 'cancelled') isOver = true;
    }
  };
  // When the store fails in one worker, still wait for the other workers.
  const ended = await Promise.allSettled(Array.from({ length: Math.min(atOnce, items.length) }, work));
  const broken = ended.find((each) => each.status === 'rejected');
  if (broken !== undefined) throw broken.reason;
  return outcomes;
}

function single(
  id: string,
  { status, code, message, wasPassedOver, isUnknown = false, refusal, retryable }: TaskEnd,
  isDecision: boolean,
): StepEnd {
  const state = status === 'ok' ? 'completed' : status;
  const hasFailed = status === 'failed' || (status === 'cancelled' && code !== null);
  return {
    state,
    code,
    taskIds: [id],
    isList: false,
    isDecision,
    failed: hasFailed ? [id] : [],
    fatal:
      hasFailed && !wasPassedOver
        ? { taskId: id, code: code ?? 'E_UNKNOWN', message: message ?? '', refusal, retryable }
        : undefined,
    isUnknown: isUnknown && !wasPassedOver,
  };
}

function together(outcomes: readonly (StepEnd | undefined)[], { kind }: Step): StepEnd {
  const begun = outcomes.filter((each) => each !== undefined);
  const failed = begun.flatMap((each) => each.failed);
  const isCut = begun.length < outcomes.length || begun.some((each) => each.state === 'cancelled');
  const state = failed.length > 0 ? 'failed' : isCut ? 'cancelled' : 'completed';
  return {
    state,
    code: begun.find((each) => each.failed.length > 0)?.code ?? null,
    taskIds: begun.flatMap(({ taskIds }) => taskIds),
    isList: true,
    isDecision: kind === 'decision',
    failed,
    fatal: begun.find(({ fatal }) => fatal !== undefined)?.fatal,
    isUnknown: begun.some((each) => each.isUnknown),
  };
}

function itemsOf({ name, foreach }: Step, scope: Scope): readonly unknown[] {
  const { over, maxItems } = foreach!;
  const items = evaluate(over, scope);
  if (!Array.isArray(items)) {
    throw new AcorError('E_WORKFLOW_INVALID', `foreach of '${name}' must be a list, got ${typeof items}`, {
      hint: 'Write an expression whose value is a list.',
    });
  }
  if (items.length <= maxItems) return items;
  throw new AcorError(
    'E_WORKFLOW_INVALID',
    `foreach of '${name}' has ${items.length} items; max_items allows ${maxItems}`,
    {
      hint: 'Raise max_items of the step (at most 10000), or shorten the list.',
    },
  );
}

/** The step failed before it started a task: an expression in it has no value. */
async function refused(engine: Engine, step: Step, id: string, error: unknown): Promise<StepEnd> {
  const refusal = recordedFailure(error);
  const { code, message } = refusal;
  const wasPassedOver = step.onError === 'continue';
  const passed = wasPassedOver ? { passed_over: true } : {};
  await emit(engine, { type: 'task_done', task_id: id, status: 'failed', code, msg: message, ...passed });
  return single(id, { status: 'failed', code, message, wasPassedOver, refusal }, step.kind === 'decision');
}
