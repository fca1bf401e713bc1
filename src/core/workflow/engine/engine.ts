import { AcorError } from '../../../protocol/acor-error.ts';
import type { RunWriter } from '../../ports/run-store.ts';
import type { ChildHosts } from '../../run/child-supervisors.ts';
import type { RunnerServices } from '../../run/services.ts';
import { storageError } from '../../store-files/storage-error.ts';
import type { Decisions } from './decisions.ts';
import type { WorkflowPlan } from './plan-workflow.ts';
import type { Slots } from './slots.ts';
import type { TaskHistory } from './task-history.ts';

/** What the parts of the engine share while an attempt goes on. */
export interface Engine {
  readonly services: RunnerServices;
  readonly plan: WorkflowPlan;
  readonly writer: RunWriter;
  readonly hosts: ChildHosts;
  readonly history: TaskHistory;
  readonly slots: Slots;
  readonly decisions: Decisions;
  /** Whether everything so far went as it should, for `workflow.ok`. */
  isOk: boolean;
  /** Aborted when all that goes on is to end; the reason is what the children are told. The last steps get one of their own. */
  stop: AbortController;
  /** Aborted when what is to end is to do so without any more grace. */
  readonly forceCancel: AbortSignal;
}

/** An event about a task: written, known from then on, and seen by whoever follows. */
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

/** The log of the workflow cannot be written: nothing that goes on can be answered for. */
export class StoreFailed extends Error {
  readonly error: AcorError;

  constructor(error: AcorError) {
    super(error.message);
    this.error = error;
  }
}

/** Why a step cannot be done, in the words of the error table; anything else is a fault of the engine. */
export function recordedFailure(error: unknown): AcorError {
  if (error instanceof AcorError) return error;
  throw error;
}
