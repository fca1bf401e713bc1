import type { FinalState } from '../../protocol/run-state.ts';
import type { Survivor } from '../process/kill-tree.ts';
import type { MeasuredArtifact } from '../storage/artifacts.ts';
import type { RunLayout } from '../storage/layout.ts';
import type { AttemptResult } from './attempt.ts';
import type { Outcome } from './outcome.ts';
import type { RunPlan } from './plan.ts';

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

/** How the last try came out, and which one it was. There is no result of a try that never began. */
export interface TriedOut {
  outcome: Outcome;
  attempt?: AttemptResult;
  number: number;
}

/** What a supervisor says of its own run. The number of events is known once the end is written. */
export function summarise(
  { runId, tool }: RunPlan,
  layout: RunLayout,
  { outcome, attempt, number }: TriedOut,
  { durationS, artifacts }: { durationS: number; artifacts: MeasuredArtifact[] },
): RunSummary {
  const failed = outcome.state !== 'completed';
  return {
    run_id: runId,
    tool: tool.name,
    state: outcome.state,
    code: outcome.code,
    message: outcome.message,
    hint: outcome.hint,
    retryable: outcome.retryable,
    rc: attempt?.exit.rc ?? null,
    signal: attempt?.exit.signal ?? null,
    attempt: number,
    duration_s: durationS,
    events: 0,
    artifacts: failed ? [] : artifacts,
    survivors: attempt?.survivors ?? [],
    result: attempt?.message?.type === 'result' ? attempt.message : null,
    next: failed ? [...(outcome.retryable ? [`acor resume ${runId}`] : []), `acor logs ${runId}`] : [],
    dir: layout.dir,
  };
}
