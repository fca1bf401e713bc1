import type { FinalState } from '../../protocol/run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { Metrics, RunSpending } from '../cost/run-spending.ts';
import type { ControlListener } from '../ports/control-channel.ts';
import type { RunWriter } from '../ports/run-store.ts';
import type { Survivor } from '../process/kill-tree.ts';
import type { Exit } from '../process/runtime.ts';
import type { MeasuredArtifact } from '../store-files/artifacts.ts';
import type { Questions } from './answers/questions.ts';
import type { Outcome } from './outcome.ts';
import type { RunPlan } from './plan/run-plan.ts';

/** A run that is ready to start: its plan, and the factory of its executor. */
export interface PreparedRun {
  plan: RunPlan;
  createExecutor(writer: RunWriter): RunExecutor;
  /** For the next attempt of a run: additional fields of its `runner_state` event, and changes of its record. */
  again?: { reported: Record<string, unknown>; change: Partial<RunRecord> };
}

/** Executes the attempts of a run: the process of a tool, the turns of a task, the steps of a workflow, or the stages of a pipe. */
export interface RunExecutor {
  /** Starts what the first attempt of a new run would wait for, before the run records its start. What fails here is the outcome of the run. */
  begin?(): Promise<void>;
  /** Ends what `begin` has started and no attempt has taken: the run waits in the queue, or has ended. */
  endBegun?(): Promise<void>;
  /** Runs one attempt to its end. It does not throw, and no process of the attempt is alive when it returns. */
  attempt(options: AttemptOptions): Promise<AttemptOutcome>;
  /** Appends the last warnings to the log, when no further attempt follows. */
  conclude(last: AttemptOutcome): Promise<void>;
  /** Keeps the outputs that are in place, or takes them back, once the final state of the run is in the log. */
  settle?(state: FinalState): Promise<void>;
}

export interface AttemptOptions {
  number: number;
  /** The current deadline of the whole run. Waits for answers may move it. */
  deadline: () => Date;
  /** Whether the attempt continues from the checkpoints of an earlier one. */
  isResumed: boolean;
  /** Time left until the deadline. */
  leftMs: () => number;
  /** Settles with the reason when the run is cancelled; `forceCancel` settles when it must end without a grace period. */
  cancelled: Promise<string>;
  forceCancel: Promise<void>;
  questions: Questions;
  control: ControlListener;
  /** What the run spends, and the limit of it. */
  spending: RunSpending;
  /** The model that the program is to use, if its output does not name one. */
  model?: string;
  /** Set for a conversation. Each of its turns is a process that exits after its questions; the next turn gets the answers. */
  turn?: TurnHooks;
  /** Moves files of a completed attempt out of its workspace, and returns the artifacts with their final paths. */
  putInPlace?: (artifacts: readonly MeasuredArtifact[]) => MeasuredArtifact[];
}

/** Reports the questions and answers of a turn to the executor of the conversation. Its questions stay open when its process exits. */
export interface TurnHooks {
  /** Whether the turn has a question without an answer: it ends without a result then. */
  readonly isAsking: boolean;
  asked(event: Readonly<Record<string, unknown>>): void;
  delivered(line: string): void;
}

/** How one attempt ended. Every `RunExecutor` returns it; `Run` uses it to decide on a retry, and summarises the last one. */
export interface AttemptOutcome {
  outcome: Outcome;
  /** Whether the runner stopped it before it ended by itself: its effects are unknown. */
  wasStopped: boolean;
  /** Null when it had no process. */
  exit: Exit | null;
  survivors: Survivor[];
  /** Its last message, if that is a result. */
  result: Record<string, unknown> | null;
  artifacts: MeasuredArtifact[];
  /** What it reported of its work, in the end or when it was stopped; null when it reported nothing. */
  metrics: Metrics | null;
  /** What its child runs have cost. */
  childrenUsd?: number;
}

/** The outcome of an attempt that did not start. */
export function notStarted(outcome: Outcome): AttemptOutcome {
  return {
    outcome,
    wasStopped: false,
    exit: null,
    survivors: [],
    result: null,
    artifacts: [],
    metrics: null,
  };
}
