import type { NextStep } from '../../../protocol/next-steps.ts';
import type { RunStore } from '../../ports/run-store.ts';
import { readEvents } from '../../run/read-log.ts';
import { stepOf } from './task-id.ts';

type Event = Readonly<Record<string, unknown>>;

export type TaskStatus = 'ok' | 'failed' | 'cancelled' | 'skipped';

/** What the workflow's log says about a task. */
export interface TaskState {
  /** The number of submissions over all attempts, whatever their outcome. */
  tries: number;
  /** How many of these came before the task was last reset. */
  triesBefore: number;
  /** The task was submitted and has not ended yet. */
  isOpen: boolean;
  /** The run of the last try once it has started, or the run that the next try resumes. */
  childRunId: string | null;
  hasBegun: boolean;
  done: TaskEnd | undefined;
  /** The child's events up to this `seq` are recorded in the log. */
  recordedSeq: number;
}

/**
 * How a task ended, as its `task_done` says. `runTask` and the logs of earlier attempts create it; later steps read it.
 */
export interface TaskEnd {
  status: TaskStatus;
  code: string | null;
  message: string | null;
  /** The task failed, and its `on_error` rule let the workflow continue. */
  wasPassedOver: boolean;
  /** It was stopped and is not idempotent: only a resume with `force` repeats it. No log has that: a resume finds it out again. */
  isUnknown?: boolean;
  /** No log has these either: the end of the workflow names them. */
  refusal?: Refusal | undefined;
  retryable?: boolean | undefined;
}

/** The fix of a refusal, for the end of the workflow. */
export interface Refusal {
  hint?: string | undefined;
  next?: readonly NextStep[] | undefined;
}

const FRESH: TaskState = {
  tries: 0,
  triesBefore: 0,
  isOpen: false,
  childRunId: null,
  hasBegun: false,
  done: undefined,
  recordedSeq: 0,
};

/**
 * The state of a workflow's tasks over all attempts, derived only from the workflow's own log. Events that the engine
 * writes pass through here too, so the state always equals what a reader of the log would derive.
 */
export class TaskHistory {
  readonly #tasks = new Map<string, TaskState>();
  /** Every run of a task, over all attempts and tries. */
  readonly childRunIds = new Set<string>();
  /** The `finally` steps, which run at the end of each attempt that did any work. */
  readonly #lastSteps: ReadonlySet<string>;
  /** Whether a `finally` step has started since the last ordinary step did. */
  #hasLast = false;

  constructor(lastSteps: Iterable<string>) {
    this.#lastSteps = new Set(lastSteps);
  }

  static async read(store: RunStore, runId: string, lastSteps: Iterable<string>): Promise<TaskHistory> {
    const history = new TaskHistory(lastSteps);
    for await (const event of readEvents(store, runId, { wait: false })) history.add(event);
    return history;
  }

  of(taskId: string): TaskState {
    return this.#tasks.get(taskId) ?? FRESH;
  }

  /** The tasks that have started and not ended. */
  open(): [string, TaskState][] {
    return [...this.#tasks].filter(([, { isOpen }]) => isOpen);
  }

  add(event: Event): void {
    const taskId = String(event.task_id);
    switch (event.type) {
      case 'task_submitted': {
        const { tries, triesBefore, isOpen } = this.of(taskId);
        this.#tasks.set(taskId, {
          ...FRESH,
          tries: tries + 1,
          triesBefore: isOpen ? triesBefore : tries,
          isOpen: true,
          childRunId: textOrNull(event.child_run_id),
        });
        if (this.#isLast(taskId)) this.#hasLast = true;
        else if (this.#hasLast) {
          this.#forget((id) => this.#isLast(id));
          this.#hasLast = false;
        }
        break;
      }
      case 'task_started':
        if (typeof event.child_run_id === 'string') this.childRunIds.add(event.child_run_id);
        // The user may have resumed a failed child; then its events are followed again.
        this.#change(taskId, {
          isOpen: true,
          hasBegun: true,
          done: undefined,
          childRunId: textOrNull(event.child_run_id),
          recordedSeq: typeof event.since_seq === 'number' ? event.since_seq : 0,
        });
        break;
      case 'task_progress':
      case 'task_action_required':
      case 'task_error':
        this.#change(taskId, { recordedSeq: Number((event.child_event as Event | undefined)?.seq ?? 0) });
        break;
      case 'task_done':
        this.#change(taskId, {
          isOpen: false,
          done: {
            status: event.status as TaskStatus,
            code: textOrNull(event.code),
            message: textOrNull(event.msg),
            wasPassedOver: event.passed_over === true,
          },
        });
        break;
      case 'runner_state':
        if (event.reason === 'retry') this.#forget(() => true);
        if (Array.isArray(event.steps_again)) {
          const steps = new Set(event.steps_again.map(String));
          this.#forget((id) => steps.has(stepOf(id)));
        }
        break;
      default:
    }
  }

  #change(taskId: string, change: Partial<TaskState>): void {
    this.#tasks.set(taskId, { ...this.of(taskId), ...change });
  }

  /** Resets tasks: they run again, as new tries. */
  #forget(isMeant: (taskId: string) => boolean): void {
    for (const [taskId, { tries }] of this.#tasks)
      if (isMeant(taskId)) this.#tasks.set(taskId, { ...FRESH, tries, triesBefore: tries });
  }

  #isLast(taskId: string): boolean {
    return this.#lastSteps.has(stepOf(taskId));
  }
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}
