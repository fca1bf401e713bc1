import type { ControlListener } from '../ports/control-channel.ts';
import type { Survivor } from '../process/kill-tree.ts';
import type { Exit } from '../process/runtime.ts';
import type { MeasuredArtifact } from '../store-files/artifacts.ts';
import type { Questions } from './answers/questions.ts';
import type { Outcome } from './outcome.ts';

/** What a run does, one attempt after the other: a tool's process (`tool-work.ts`), or the steps of a workflow. */
export interface RunExecutor {
  /** Sees one attempt through to its end, whatever that is; when it returns, nothing of it is left alive. It does not throw. */
  attempt(options: AttemptOptions): Promise<AttemptOutcome>;
  /** No further attempt follows: tells what there is to tell before the end. */
  conclude(last: AttemptOutcome): Promise<void>;
}

export interface AttemptOptions {
  number: number;
  /** When the time of the whole run is up, as things stand now. */
  deadline: () => Date;
  /** Whether an attempt before it has left checkpoints to go on from. */
  isResumed: boolean;
  /** Time left of the whole run. */
  leftMs: () => number;
  /** Settles when the caller wants the run to end, with the reason; `forceCancel` when without any grace. */
  cancelled: Promise<string>;
  forceCancel: Promise<void>;
  questions: Questions;
  control: ControlListener;
  /** Given when a program is gone after its questions, and hears the answers as the next one. */
  turn?: TurnHooks;
}

/** What is told of a turn's questions to whoever starts the next turn. They stay open when its program ends. */
export interface TurnHooks {
  asked(event: Readonly<Record<string, unknown>>): void;
  delivered(line: string): void;
}

/** What one attempt came to. */
export interface AttemptOutcome {
  outcome: Outcome;
  /** Whether it was stopped, and did not end by itself: nobody can say what it had done by then. */
  wasStopped: boolean;
  /** How its process ended; null when there was none. */
  exit: Exit | null;
  survivors: Survivor[];
  /** Its own last message, where that is a result. */
  result: Record<string, unknown> | null;
  artifacts: MeasuredArtifact[];
}

/** An attempt that never began. */
export function notStarted(outcome: Outcome): AttemptOutcome {
  return { outcome, wasStopped: false, exit: null, survivors: [], result: null, artifacts: [] };
}
