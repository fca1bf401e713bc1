import type { ResourceLimits } from '../../../protocol/resource-limits.ts';
import type { RunKind } from '../../../protocol/run-kind.ts';
import type { Isolation } from '../../../protocol/v1/runner-events.ts';
import type { Approval } from '../../guard/approval-state.ts';
import type {
  PreparedAnswer,
  RecordSource,
  RerunMode,
  RunGroup,
  RunParent,
} from '../../ports/run-launcher.ts';
import type { StagedOutput } from '../../registry/arguments.ts';
import type { AnswerHandler } from '../answers/questions.ts';
import type { RunSecrets } from '../secrets/run-secrets.ts';
import type { RunWorkspace } from '../workspace.ts';

/** The clocks and limits of a run. */
export interface RunLimits {
  timeoutS: number;
  heartbeatGraceS: number;
  stallS: number | null;
  maxOutputBytes: number;
  cancelGraceS: number;
  /** Whether the deadline clock stops while the run waits for an answer. */
  waitingStopsDeadline: boolean;
}

/** How retryable failures are retried: attempts in all, and the wait before the second one, doubled each time. */
export interface RetryPlan {
  maxAttempts: number;
  backoffS: number;
  maxBackoffS: number;
}

/** What a project lets its runs use at most (config `budget`); null is without a limit. */
export interface Budget {
  /** How many runs may execute at once. */
  maxRuns: number | null;
}

/** A limit that the manifest or the caller asks for, and the lower one that is allowed. */
export interface Lowered {
  what: 'timeout_s' | 'max_output_size' | 'retry.max_attempts' | `resources.${keyof ResourceLimits}`;
  asked: number;
  allowed: number;
  /** What lowered it; left out, the project's budget. */
  by?: string;
}

/** Everything decided about a run before it starts, whatever it runs: `plan.ts` plans tools, `core/workflow` workflows and pipes. */
export interface RunPlan {
  runId: string;
  /** Where this machine executes it. */
  workspace: RunWorkspace;
  /** Set when this is the next attempt of a run that has ended. */
  again: RerunMode | null;
  traceId: string;
  spanId: string;
  kind: RunKind;
  /** The name of what runs, as it is shown: `line_count`, `workflow:nightly`. */
  name: string;
  /** Null for what has no version. */
  version: string | null;
  /** SHA-256 of what defines the run: a tool's manifest and entry, a workflow's file; null for a pipe. */
  digest: string | null;
  /** The arguments as they are shown: values of secret inputs are masked. */
  shownArgs: string[];
  /** Outputs that the tool writes to its workspace first. */
  staged: StagedOutput[];
  /** The arguments as the caller gave them, to be given again; null when a secret is among them. */
  givenArgs: string[] | null;
  isolation: Isolation;
  /** The approval that a privileged tool runs by. */
  approval: Approval | null;
  /** What only the tool may learn; null when there is nothing. */
  secrets: RunSecrets | null;
  limits: RunLimits;
  retry: RetryPlan;
  /** Whether running it twice does no harm. */
  idempotent: boolean;
  budget: Budget;
  /** Whether it takes a queue slot of the project: a run that only waits for other runs does not. */
  needsSlot: boolean;
  rate: { calls: number; perS: number } | null;
  /** The limits that were lowered to a ceiling. */
  lowered: Lowered[];
  /** Answers known beforehand: those of the caller, then those of the configuration's rules. */
  answers: PreparedAnswer[];
  answerTimeoutS: number;
  /** Asked when no answer is prepared. */
  onQuestion: AnswerHandler | undefined;
  cwd: string;
  idempotencyKey: string | null;
  /** The run that this one repeats, to be compared with it. */
  replays: string | null;
  caller: string | null;
  /** The run whose records it reads. */
  reads?: RecordSource;
  /** The run that this one is part of. */
  parent: RunParent | null;
  /** The caller's span, when it names one. */
  parentSpanId: string | null;
  group: RunGroup | null;
}

/** The arguments for the log and the record, which other machines read: with outputs by their targets instead of their place in the workspace. */
export function recordedArgs({ shownArgs, staged }: Pick<RunPlan, 'shownArgs' | 'staged'>): string[] {
  return shownArgs.map((arg) =>
    staged.reduce((shown, output) => shown.replaceAll(output.staged, output.target), arg),
  );
}
