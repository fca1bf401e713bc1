import type { ResourceLimits } from '../../../protocol/resource-limits.ts';
import type { RunKind } from '../../../protocol/run.ts';
import type { Isolation } from '../../../protocol/v1/runner-events.ts';
import type { WriteMode } from '../../../protocol/write-modes.ts';
import type { CostLimit } from '../../cost/run-spending.ts';
import type { Approval } from '../../guard/approval-state.ts';
import type {
  PreparedAnswer,
  RecordSource,
  RerunMode,
  RunGroup,
  RunParent,
} from '../../ports/run-launcher.ts';
import type { StagedOutput } from '../../registry/arguments.ts';
import type { AnswerHandler } from '../answers/question.ts';
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

/** How retryable failures are retried: the number of attempts, and the wait before the second one, which doubles each time. */
export interface RetryPlan {
  maxAttempts: number;
  backoffS: number;
  maxBackoffS: number;
}

/** The project's ceiling on its runs (config `budget`); null means no limit. */
export interface Budget {
  /** How many runs may execute at once. */
  maxRuns: number | null;
}

/** What a run may cost (config `budget`). */
export interface PlannedCost {
  limit: CostLimit | null;
  /** The share of the limit at which the run warns. */
  warnAt: number;
  /** What the manifest says that a run costs, in US dollars; null when it does not. */
  perRunUsd: number | null;
  /** Whether the run needs a part of the day's budget. A child has its parent's. */
  needsDay: boolean;
  /** This part; null until it is reserved, and without such a budget. */
  dayUsd: number | null;
}

/** A limit that the manifest or the caller asked for, and the lower one that applies. */
export interface Lowered {
  what:
    | 'cost_usd'
    | 'timeout_s'
    | 'max_output_size'
    | 'retry.max_attempts'
    | `resources.${keyof ResourceLimits}`;
  asked: number;
  allowed: number;
  /** What lowered it; the project's budget when absent. */
  by?: string;
}

/** Everything that is decided before a run starts, for every kind of run: `plan.ts` plans tools, `core/workflow` workflows and pipes. */
export interface RunPlan {
  runId: string;
  /** The run's folders on this machine. */
  workspace: RunWorkspace;
  /** Set when this is the next attempt of a run that has ended. */
  again: RerunMode | null;
  traceId: string;
  spanId: string;
  /** Whether the caller records its trace. */
  isSampled: boolean;
  /** What other systems keep with the trace (`tracestate`). */
  traceState: string | null;
  kind: RunKind;
  /** The displayed name: `line_count`, `workflow:nightly`. */
  name: string;
  /** The name in the manifest of a file that runs by its path. */
  title?: string;
  /** Null for a pipe, and for a program without a manifest. */
  version: string | null;
  /** SHA-256 of what defines the run: a tool's manifest and entry, a workflow's file; null for a pipe. */
  digest: string | null;
  /** SHA-256 of what is executed, when the run was checked against the plan that a person or an agent has seen. */
  planDigest?: string;
  /** The arguments as they are shown: values of secret inputs are masked. */
  shownArgs: string[];
  /** The arguments for display: values of secret inputs are masked. */
  staged: StagedOutput[];
  /** The arguments as the caller gave them, for repeating the run; null when one of them is a secret. */
  givenArgs: string[] | null;
  isolation: Isolation;
  /** The approval that allows a privileged tool to run. */
  approval: Approval | null;
  /** The secrets of the run; null when it has none. */
  secrets: RunSecrets | null;
  /** Whether tools that this run calls get secrets. Those are in the plans of their own runs. */
  callsWithSecrets: boolean;
  limits: RunLimits;
  retry: RetryPlan;
  /** Whether running it twice is harmless. */
  idempotent: boolean;
  budget: Budget;
  cost: PlannedCost;
  /** Whether it takes a queue slot of the project. A run that only waits for other runs does not. */
  needsSlot: boolean;
  rate: { calls: number; perS: number } | null;
  /** The limits that were lowered to a ceiling. */
  lowered: Lowered[];
  /** Prepared answers: those of the caller, then those of the configuration's rules. */
  answers: PreparedAnswer[];
  answerTimeoutS: number;
  /** Called for questions without a prepared answer. */
  onQuestion: AnswerHandler | undefined;
  cwd: string;
  idempotencyKey: string | null;
  /** The run that this one repeats, for comparison. */
  replays: string | null;
  caller: string | null;
  /** How the caller wants the run to write at least. */
  writes: WriteMode | null;
  /** The run whose records it reads. */
  reads?: RecordSource;
  /** The run that this one is part of. */
  parent: RunParent | null;
  /** The caller's span; null when the caller passed none. */
  parentSpanId: string | null;
  group: RunGroup | null;
}

/** The arguments for the log and the record, which other machines read: with outputs by their targets instead of their place in the workspace. */
export function recordedArgs({ shownArgs, staged }: Pick<RunPlan, 'shownArgs' | 'staged'>): string[] {
  return shownArgs.map((arg) =>
    staged.reduce((shown, output) => shown.replaceAll(output.staged, output.target), arg),
  );
}
