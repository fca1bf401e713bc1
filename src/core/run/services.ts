import type { LoadedConfig } from '../config/load.ts';
import type { RunQueue } from '../ports/run-queue.ts';
import type { Runtime } from '../process/runtime.ts';
import type { Registry, ToolEntry } from '../registry/registry.ts';
import type { RunStore, RunWriter } from '../store-files/run-store.ts';
import type { AnswerHandler, PreparedAnswer } from './answers/questions.ts';
import type { AdapterKind } from './attempt/adapter.ts';
import type { ToolPlan } from './plan/plan.ts';
import type { PreparedRun } from './plan/prepared-run.ts';
import type { RecordSource } from './records/record-source.ts';
import type { RunExecutor } from './run-executor.ts';

/** What the runner works with. */
export interface RunnerServices {
  config: LoadedConfig;
  registry: Pick<Registry, 'find' | 'errorCodes' | 'languages'>;
  plugins?: RunPlugins | undefined;
  store: RunStore;
  queue: RunQueue;
  runtime: Runtime;
  /** Orphans of a tool become children of this process (the command line asks for it; a library does not change its host). */
  adoptsOrphans: boolean;
  /** The adapter that a manifest names (contract §1). */
  loadAdapter: (name: string) => Promise<AdapterKind>;
  /** Plans what is no tool but a workflow or a pipe; left out where there are no processes to supervise its steps. */
  planWorkflow?: (services: RunnerServices, request: RunRequest) => Promise<PreparedRun>;
  /** Works turn by turn with an executor of tasks, whose name begins with `TASK_PREFIX`; left out where there are none. */
  conversationalExecutor?: (plan: ToolPlan) => Promise<(work: RunExecutor, writer: RunWriter) => RunExecutor>;
}

/** How the name of a tool begins that carries out tasks. */
export const TASK_PREFIX = 'task:';

/** What the plugins of a project have to do with its runs. */
export interface RunPlugins {
  /** Has them look at what is about to run: the plan within their limits. Throws E_POLICY_DENIED when one of them refuses it. */
  beforeRun(plan: ToolPlan): Promise<ToolPlan>;
  /** Has them watch a run from its first event on. */
  watch(writer: RunWriter): RunWatch;
}

/** How plugins watch one run. */
export interface RunWatch {
  /** The run has told of its start, and may tell of more. */
  begun(): void;
  /** Waits a bounded time for those that lag behind, and tells of what they have missed. */
  beforeEnd(): Promise<void>;
  /** Waits a bounded time until they know of the end. */
  afterEnd(): Promise<void>;
}

/** How the name of a run begins that is a workflow; in a request, the path of its file follows. */
export const WORKFLOW_PREFIX = 'workflow:';

/** How the name of a run begins that is a pipe; the names of its tools follow. Its arguments are its stages, a command line each. */
export const PIPE_PREFIX = 'pipe:';

/** Whether what a run's name stands for runs other runs, and nothing of its own. */
export function isOrchestration(name: string): boolean {
  return name.startsWith(WORKFLOW_PREFIX) || name.startsWith(PIPE_PREFIX);
}

/** `resume` goes on from the checkpoints of the attempts before; `retry` begins anew. */
export type RerunMode = 'resume' | 'retry';

/** How an ended run is to go on. */
export interface Rerun {
  runId: string;
  mode: RerunMode;
  /** Although nobody can say what was done by then. */
  force?: boolean;
  /** Of a workflow: this step and all that depend on it are run again, even if they are done. */
  from?: string;
}

/** The run that another one is a part of, and as which of its tasks. */
export interface RunParent {
  run_id: string;
  task_id: string;
}

/** Runs that belong together, by the id of the run that they all are parts of. */
export interface RunGroup {
  id: string;
  maxRuns: number;
}

/** What a caller asks for. */
export interface RunRequest {
  tool: string;
  /** The tool, where the caller has looked it up for this request: discovery is not repeated. */
  found?: ToolEntry;
  args: string[];
  /** Path arguments are resolved against it. */
  cwd: string;
  /** The caller's environment; only what is listed reaches the tool. */
  env: Readonly<Record<string, string | undefined>>;
  timeoutS?: number;
  /** How many more times a retryable failure is tried. */
  retries?: number;
  readStdin?: () => string;
  /** Answers to questions that the tool is expected to ask. */
  answers?: readonly PreparedAnswer[];
  /** Asked for the answers that nobody has prepared; only where this process itself supervises the run. */
  onQuestion?: AnswerHandler;
  /** An ended run of which this is to be the next attempt, instead of a new run. */
  again?: Rerun;
  /** The same key, given again with the same call, names the first run instead of starting a second one. */
  idempotencyKey?: string;
  /**
   * The run whose call this is once more, to be compared with it. Outputs stay in the new run's folder; those of the old one
   * are named as `<input>/<name>`, because something stands at their targets by now.
   */
  replays?: { runId: string; outputs: readonly string[] };
  /** The token of the plan that the caller was shown by a dry run. */
  planToken?: string;
  /** The agent that calls, for the record. */
  caller?: string;
  /** In a pipe: the run whose records it reads, and whether another run reads those that it hands on. */
  reads?: RecordSource;
  isRead?: boolean;
  /** Set for the children of a workflow. */
  parent?: RunParent;
  /** Those of one group take no more than so many places together, whoever supervises them. */
  group?: RunGroup;
}
