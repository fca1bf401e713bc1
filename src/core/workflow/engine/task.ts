import type { Scope } from '../expression/expression.ts';
import type { StepCommon, StepWork } from '../model.ts';
import type { TaskStatus } from './task-history.ts';

/** One piece of work of a step: the step itself, an item of a `foreach`, or a task of a `parallel`. */
export interface EngineTask extends Pick<StepCommon, 'retry' | 'onError' | 'timeoutS'> {
  id: string;
  /** The step that it belongs to. */
  step: string;
  work: Exclude<StepWork, { kind: 'parallel' }>;
  /** What its expressions may read. */
  scope(): Scope;
}

export type ChildTask = EngineTask & { work: Extract<StepWork, { kind: 'tool' | 'workflow' | 'pipe' }> };
export type DecisionTask = EngineTask & { work: Extract<StepWork, { kind: 'decision' }> };

/** How one try of a task ended. `runChild` and `decideTask` make it; `runTask` decides by it whether to try again. */
export interface TaskTry {
  status: Exclude<TaskStatus, 'skipped'>;
  code: string | null;
  message: string | null;
  retryable: boolean;
  /** What it had done by then is unknown, and doing it twice may do harm. */
  isUnknown: boolean;
  /** What else its `task_done` reports. */
  told: Record<string, unknown>;
}
