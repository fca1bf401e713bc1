import type { Isolation } from '../../../protocol/v1/runner-events.ts';
import type { Approval } from '../../guard/approval-state.ts';
import type { AnswerHandler, PreparedAnswer } from '../answers/questions.ts';
import type { RecordSource } from '../records/record-source.ts';
import type { RunSecrets } from '../secrets/run-secrets.ts';
import type { RerunMode, RunGroup, RunParent } from '../services.ts';
import type { Budget, Lowered } from './budget.ts';

/** The clocks and limits of a run. */
export interface RunLimits {
  timeoutS: number;
  heartbeatGraceS: number;
  stallS: number | null;
  maxOutputBytes: number;
  cancelGraceS: number;
  /** Whether the deadline stands still while the run waits for an answer. */
  waitingStopsDeadline: boolean;
}

/** How failures that may pass are tried again: tries in all, and the wait before the second one, doubled each time. */
export interface RetryPlan {
  maxAttempts: number;
  backoffS: number;
  maxBackoffS: number;
}

/** What is decided of every run before it starts, whatever it does: `plan.ts` plans those of tools. */
export interface RunPlan {
  runId: string;
  /** Set when this is the next attempt of a run that has ended. */
  again: RerunMode | null;
  traceId: string;
  spanId: string;
  /** What it does: the name of a tool, or `workflow:` and that of a workflow; null where it has no version. */
  name: string;
  version: string | null;
  /** The arguments as they are shown: values of secret inputs are masked. */
  shownArgs: string[];
  /** The arguments as the caller gave them, to be given again; null when a secret is among them. */
  givenArgs: string[] | null;
  isolation: Isolation;
  /** By which a privileged tool runs. */
  approval: Approval | null;
  /** What is to be kept from everybody but the tool; null when there is nothing. */
  secrets: RunSecrets | null;
  limits: RunLimits;
  retry: RetryPlan;
  /** Whether it may be done twice without harm. */
  idempotent: boolean;
  budget: Budget;
  /** Whether it takes one of the places of the project: what only waits for other runs does not. */
  needsSlot: boolean;
  rate: { calls: number; perS: number } | null;
  /** What was asked for beyond the project's ceilings. */
  lowered: Lowered[];
  /** Answers known beforehand: those of the caller, then those of the configuration's rules. */
  answers: PreparedAnswer[];
  answerTimeoutS: number;
  /** Asked when nothing was prepared. */
  onQuestion: AnswerHandler | undefined;
  cwd: string;
  idempotencyKey: string | null;
  /** The run that this one is to be compared with. */
  replays: string | null;
  caller: string | null;
  /** The run whose records it reads. */
  reads?: RecordSource;
  /** The run that this one is a part of. */
  parent: RunParent | null;
  /** The span that it is a child of, when its caller names one. */
  parentSpanId: string | null;
  group: RunGroup | null;
}
