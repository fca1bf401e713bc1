import type { FinalState } from '../../protocol/run-state.ts';
import type { RunWorkspace } from '../ports/run-workspace.ts';
import type { Survivor } from '../process/kill-tree.ts';
import type { MeasuredArtifact } from '../store-files/artifacts.ts';
import type { RunPlan } from './plan/run-plan.ts';
import type { AttemptOutcome } from './run-executor.ts';

/** How a run ended. `result` is the tool's own last message, if it wrote one. */
export interface RunSummary {
  run_id: string;
  tool: string;
  state: FinalState;
  code: string | null;
  message: string | null;
  hint: string | null;
  retryable: boolean;
  rc: number | null;
  signal: string | null;
  attempt: number;
  duration_s: number;
  events: number;
  artifacts: MeasuredArtifact[];
  survivors: Survivor[];
  result: Record<string, unknown> | null;
  next: string[];
  dir: string;
}

/** How the last try came out, and which one it was. */
export type FinalAttempt = AttemptOutcome & { number: number };

/** What a supervisor says of its own run. The number of events is known once the end is written. */
export function summarise(
  { runId, name }: RunPlan,
  layout: RunWorkspace,
  { outcome, exit, survivors, result, artifacts, number }: FinalAttempt,
  durationS: number,
): RunSummary {
  const failed = outcome.state !== 'completed';
  return {
    run_id: runId,
    tool: name,
    state: outcome.state,
    code: outcome.code,
    message: outcome.message,
    hint: outcome.hint,
    retryable: outcome.retryable,
    rc: exit?.rc ?? null,
    signal: exit?.signal ?? null,
    attempt: number,
    duration_s: durationS,
    events: 0,
    artifacts: failed ? [] : artifacts,
    survivors,
    result,
    next: failed ? [...(outcome.retryable ? [`acor resume ${runId}`] : []), `acor logs ${runId}`] : [],
    dir: layout.dir,
  };
}
