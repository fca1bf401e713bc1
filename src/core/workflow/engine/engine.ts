import { AcorError } from '../../../protocol/acor-error.ts';
import type { RunLauncher } from '../../ports/run-launcher.ts';
import type { RunWriter } from '../../ports/run-store.ts';
import type { RunnerServices } from '../../run/services.ts';
import { storageError } from '../../store-files/storage-error.ts';
import type { ChildCosts } from './child-costs.ts';
import type { Decisions } from './decisions.ts';
import type { WorkflowPlan } from './plan-workflow.ts';
import type { TaskHistory } from './task-history.ts';

/** Why the steps are ended at the deadline of their workflow. */
export const AT_DEADLINE = 'the deadline of the workflow';

/** What the parts of the engine share during an attempt. */
export interface Engine {
  readonly services: RunnerServices;
  readonly plan: WorkflowPlan;
  readonly writer: RunWriter;
  readonly launcher: RunLauncher;
  readonly history: TaskHistory;
  readonly slots: Slots;
  readonly decisions: Decisions;
  readonly costs: ChildCosts;
  /** Whether no step has failed so far, for `workflow.ok`. */
  isOk: boolean;
  /**
   * Aborted to end all running work; its reason becomes the children's cancel reason. The `finally` steps get a
   * controller of their own.
   */
  stop: AbortController;
  /** Aborted when running work must end without a grace period. */
  readonly forceCancel: AbortSignal;
}

/** Writes a task event to the log and adds it to the history, where followers read it. */
export async function emit(
  { writer, history }: Pick<Engine, 'writer' | 'history'>,
  event: { type: string; [field: string]: unknown },
): Promise<void> {
  try {
    writer.log.append(event);
    await writer.log.flush();
  } catch (error) {
    throw new StoreFailed(storageError(error, 'write the event log', writer.record.run_id));
  }
  history.add(event);
}

/** The workflow's log cannot be written, so the engine must not continue. */
export class StoreFailed extends Error {
  readonly error: AcorError;

  constructor(error: AcorError) {
    super(error.message);
    this.error = error;
  }
}

/**
 * The failure of a step as an error code and message. Rethrows anything that is not an AcorError: that is a fault of
 * the engine.
 */
export function recordedFailure(error: unknown): AcorError {
  if (error instanceof AcorError) return error;
  throw error;
}

/** A counting semaphore: `count` tasks run at once, the others wait in order. */
export class Slots {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Waits for a slot and returns the function that releases it; undefined when `signal` ended the wait. */
  async take(signal: AbortSignal): Promise<(() => void) | undefined> {
    while (this.#free === 0 && !signal.aborted) await this.#turn(signal);
    if (signal.aborted) return undefined;
    this.#free--;
    return () => {
      this.#free++;
      const [next] = this.#waiting;
      next?.();
    };
  }

  /** Resolves when a slot may be free for this caller, or when the wait ended. */
  async #turn(signal: AbortSignal): Promise<void> {
    await new Promise<void>((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener('abort', wake);
    });
  }
}
