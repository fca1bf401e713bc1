import type { RunStore } from '../../ports/run-store.ts';
import { readEvents } from '../../run/read-events.ts';
import { stepOf } from './task-id.ts';

type Event = Readonly<Record<string, unknown>>;

export type TaskStatus = 'ok' | 'failed' | 'cancelled' | 'skipped';

/** What is known of a task from its workflow's log. */
export interface TaskState {
  /** How many times it was submitted in all, whatever became of it. */
  tries: number;
  /** How many of these were before it was last begun anew. */
  triesBefore: number;
  /** It was submitted, and how that ended is not known yet. */
  isOpen: boolean;
  /** The run of its last try, once that has begun, or with which that is to go on. */
  childRunId: string | null;
  hasBegun: boolean;
  done: TaskEnd | undefined;
  /** Up to which event of its child the log has told of it. */
  recordedSeq: number;
}

/** How a task ended, as its `task_done` says. `runTask` and the log of earlier attempts make it; the steps go on from it. */
export interface TaskEnd {
  status: TaskStatus;
  code: string | null;
  message: string | null;
  /** It failed, and the workflow went on as if it had not. */
  wasPassedOver: boolean;
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
 * What became of the tasks of a workflow, in all its attempts: its own log says it, and nothing else is kept. Whatever the engine writes
 * goes through here as well, so that what it knows is what it would read.
 */
export class TaskHistory {
  readonly #tasks = new Map<string, TaskState>();
  /** Run at the end of each attempt that has done anything. */
  readonly #lastSteps: ReadonlySet<string>;
  /** Whether a last step has begun since another one did. */
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

  /** The tasks of which it is not known how they ended. */
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
        // One that had failed may have been gone on with by hand: then it is followed once more.
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

  /** They are to be done again, as new tries. */
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
