import type { Scope } from '../expression/expression.ts';
import type { StepCommon, StepWork } from '../model.ts';
import type { Refusal, TaskStatus } from './task-history.ts';

/** One piece of work: a whole step, an item of a `foreach`, or a task of a `parallel`. */
export interface EngineTask extends Pick<StepCommon, 'retry' | 'onError' | 'timeoutS'> {
  id: string;
  /** The name of its step. */
  step: string;
  work: Exclude<StepWork, { kind: 'parallel' }>;
  /** The values that its expressions may read. */
  scope(): Scope;
}

export type ChildTask = EngineTask & { work: Extract<StepWork, { kind: 'tool' | 'workflow' | 'pipe' }> };
export type DecisionTask = EngineTask & { work: Extract<StepWork, { kind: 'decision' }> };

/** How one try of a task ended. `runChild` and `decideTask` create it; `runTask` uses it to decide about a retry. */
export interface TaskTry {
  status: Exclude<TaskStatus, 'skipped'>;
  code: string | null;
  message: string | null;
  retryable: boolean;
  /** The outcome is unknown, and a repeat may do harm. */
  isUnknown: boolean;
  /** Further fields of its `task_done` event. */
  fields: Record<string, unknown>;
  /** Why it did not start, or why a step within it did not. */
  refusal?: Refusal | undefined;
}

/** The event that ends a task, with the outcome of its last try. */
export function doneEvent(taskId: string, { status, code, message, fields }: TaskTry, wasPassedOver = false) {
  return {
    type: 'task_done',
    task_id: taskId,
    status,
    ...(code !== null && { code }),
    ...(message !== null && { msg: message }),
    ...(wasPassedOver && { passed_over: true }),
    ...fields,
  };
}
