import type { AcorError } from '../../../protocol/acor-error.ts';
import type { Ending } from '../../run/attempt/ending.ts';
import { type Outcome, stopped, timedOut } from '../../run/outcome.ts';
import type { RunSummary } from '../../run/run-summary.ts';
import { remediesAmong } from '../../run/steps-after.ts';
import type { PlannedStage } from './plan-pipe.ts';

/** The stage that ends the pipe: its run did not complete, or did not start. */
export type StageFailure = { stage: PlannedStage } & ({ summary: RunSummary } | { error: AcorError });

/** The outcome of a pipe: its first failure, else completed. */
export function pipeOutcome(failure: StageFailure | undefined, ending: Ending | undefined): Outcome {
  if (failure !== undefined) return failureOutcome(failure);
  switch (ending?.kind) {
    case undefined:
      return outcome('completed', null);
    case 'cancelled':
      return outcome('cancelled', ending.reason);
    case 'deadline':
      return timedOut('the pipe', ending);
    case 'store-failed':
      return { ...stopped(ending.error.code, ending.error.message), hint: ending.error.hint ?? null };
    default:
      throw new Error(`Internal: a pipe does not end by ${ending?.kind}`);
  }
}

function failureOutcome(failure: StageFailure): Outcome {
  const { taskId } = failure.stage;
  if ('error' in failure) {
    const { code, message, hint, next = [] } = failure.error;
    const ended = stopped(code, `stage ${taskId} could not begin: ${message}`);
    return { ...ended, hint: hint ?? null, remedies: remediesAmong(next) };
  }
  const { state, code, message, hint, retryable, run_id } = failure.summary;
  const how = state === 'cancelled' ? 'was cancelled' : 'failed';
  const ended = stopped(
    code ?? 'E_TOOL_FAILED',
    `stage ${taskId} (${run_id}) ${how}: ${message ?? code ?? ''}`,
  );
  return { ...ended, retryable, hint: hint ?? ended.hint, failedRun: run_id };
}

function outcome(state: 'completed' | 'cancelled', message: string | null): Outcome {
  return { state, code: null, message, hint: null, retryable: false, byRunner: false };
}
