import type { RunQueue } from '../ports/run-queue.ts';
import type { RunStore, RunWriter } from '../ports/run-store.ts';
import type { Runtime } from '../process/runtime.ts';
import type { AdapterKind } from './attempt/adapter.ts';
import type { PlanServices } from './plan/plan-services.ts';
import type { PreparedRun } from './plan/prepared-run.ts';
import type { ToolPlan } from './plan/tool-plan.ts';
import type { RunExecutor } from './run-executor.ts';
import type { RunRequest } from './run-request.ts';

/** What the runner works with. */
export interface RunnerServices extends PlanServices {
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
