import { AcorError } from '../../../protocol/acor-error.ts';
import type { RunLauncher } from '../../ports/run-launcher.ts';
import type { RunWriter } from '../../ports/run-store.ts';
import type { RunnerServices } from '../../run/services.ts';
import { storageError } from '../../store-files/storage-error.ts';
import type { Decisions } from './decisions.ts';
import type { WorkflowPlan } from './plan-workflow.ts';
import type { Slots } from './slots.ts';
import type { TaskHistory } from './task-history.ts';

/** What the parts of the engine share during an attempt. */
export interface Engine {
  readonly services: RunnerServices;
  readonly plan: WorkflowPlan;
  readonly writer: RunWriter;
  readonly launcher: RunLauncher;
  readonly history: TaskHistory;
  readonly slots: Slots;
  readonly decisions: Decisions;
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
