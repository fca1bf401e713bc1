import type { RunRecord } from '../../protocol/run-record.ts';
import type { ControlListener } from '../ports/control-channel.ts';
import type { RunWriter } from '../ports/run-store.ts';
import type { Survivor } from '../process/kill-tree.ts';
import type { Exit } from '../process/runtime.ts';
import type { MeasuredArtifact } from '../store-files/artifacts.ts';
import type { Questions } from './answers/questions.ts';
import type { Outcome } from './outcome.ts';
import type { RunPlan } from './plan/run-plan.ts';

/** A run that is ready to begin: its plan, and what executes it. */
export interface PreparedRun {
  plan: RunPlan;
  createExecutor(writer: RunWriter): RunExecutor;
  /** For the next attempt of a run: what its `runner_state` reports besides, and what changes in its record. */
  again?: { reported: Record<string, unknown>; change: Partial<RunRecord> };
}

/** Executes a run, one attempt after the other: the process of a tool, the turns of a task, the steps of a workflow, the stages of a pipe. */
export interface RunExecutor {
  /** Runs one attempt to its end, whatever that is; when it returns, nothing of it is alive. It does not throw. */
  attempt(options: AttemptOptions): Promise<AttemptOutcome>;
  /** No further attempt follows: records what is to be recorded before the end. */
  conclude(last: AttemptOutcome): Promise<void>;
}

export interface AttemptOptions {
  number: number;
  /** The deadline of the whole run, as of now. */
  deadline: () => Date;
  /** Whether it continues from the checkpoints of an earlier attempt. */
  isResumed: boolean;
  /** Time left of the whole run. */
  leftMs: () => number;
  /** Settles with the reason when the run is cancelled; `forceCancel` when it is to end without a grace. */
  cancelled: Promise<string>;
  forceCancel: Promise<void>;
  questions: Questions;
  control: ControlListener;
  /** Set for a conversation, in which each turn is a process: it exits after its questions, and the next one gets the answers. */
  turn?: TurnHooks;
}

/** Reports the questions of a turn to what starts the next turn. They stay open when the process of the turn exits. */
export interface TurnHooks {
  asked(event: Readonly<Record<string, unknown>>): void;
  delivered(line: string): void;
}

/** How one attempt ended. Every `RunExecutor` makes it; `Run` decides by it whether to retry, and summarises the last one. */
export interface AttemptOutcome {
  outcome: Outcome;
  /** Whether it was stopped and did not end by itself: what it had done by then is unknown. */
  wasStopped: boolean;
  /** Null when it had no process. */
  exit: Exit | null;
  survivors: Survivor[];
  /** Its last message, if that is a result. */
  result: Record<string, unknown> | null;
  artifacts: MeasuredArtifact[];
}

/** The end of an attempt that never began. */
export function notStarted(outcome: Outcome): AttemptOutcome {
  return { outcome, wasStopped: false, exit: null, survivors: [], result: null, artifacts: [] };
}
