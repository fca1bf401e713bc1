import type { RunQueue } from '../ports/run-queue.ts';
import type { RunStore, RunWriter } from '../ports/run-store.ts';
import type { Runtime } from '../process/runtime.ts';
import type { Registry } from '../registry/registry.ts';
import type { AdapterKind } from './attempt/adapter.ts';
import type { PlanServices } from './plan/plan-services.ts';
import type { ToolPlan } from './plan/tool-plan.ts';
import type { PreparedRun, RunExecutor } from './run-executor.ts';
import type { RunRequest } from './run-request.ts';

/** What the runner works with. */
export interface RunnerServices extends PlanServices {
  registry: PlanServices['registry'] & Pick<Registry, 'list'>;
  plugins?: RunPlugins | undefined;
  store: RunStore;
  queue: RunQueue;
  runtime: Runtime;
  /** Whether orphans of a tool become children of this process: so in the command line, not in the host of the library. */
  adoptsOrphans: boolean;
  /** The adapter that a manifest names (contract §1). */
  loadAdapter: (name: string) => Promise<AdapterKind>;
  /** Prepares runs that consist of other runs: workflows and pipes. Left out where no process can supervise these. */
  prepareOrchestration?: (services: RunnerServices, request: RunRequest) => Promise<PreparedRun>;
  /** Makes the executor of a task, which converses with its program turn by turn. Left out where there are no tasks. */
  conversationalExecutor?: (plan: ToolPlan) => Promise<(work: RunExecutor, writer: RunWriter) => RunExecutor>;
}

/** The plugins of a project, as its runs use them. */
export interface RunPlugins {
  /** Shows them the plan; returns it within their limits. Throws E_POLICY_DENIED when one of them refuses it. */
  beforeRun(plan: ToolPlan): Promise<ToolPlan>;
  /** Lets them observe a run from its first event on. */
  watch(writer: RunWriter): RunWatch;
}

/** The plugins that observe one run. */
export interface RunWatch {
  /** The first events of the run are in its log. */
  begun(): void;
  /** Waits a bounded time for plugins that lag behind, and records the events that they missed. */
  beforeEnd(): Promise<void>;
  /** Waits a bounded time until they have seen the end. */
  afterEnd(): Promise<void>;
}
