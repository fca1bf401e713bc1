import type { AcorError } from '../../protocol/acor-error.ts';
import type { RunIndex } from '../ports/run-index.ts';
import type { RunQueue } from '../ports/run-queue.ts';
import type { RunStore, RunWriter } from '../ports/run-store.ts';
import type { Runtime } from '../process/runtime.ts';
import type { Watchdogs } from '../process/watchdog.ts';
import type { Registry } from '../registry/registry.ts';
import type { AdapterKind } from './attempt/adapter.ts';
import type { Standbys } from './attempt/standbys.ts';
import type { PlanServices } from './plan/check-tool.ts';
import type { ToolPlan } from './plan/tool-plan.ts';
import type { PreparedRun, RunExecutor } from './run-executor.ts';
import type { RunRequest } from './run-request.ts';

/** The parts of a project and of this process that the runner uses. */
export interface RunnerServices extends PlanServices {
  registry: PlanServices['registry'] & Pick<Registry, 'list'>;
  plugins?: RunPlugins | undefined;
  /** Sends messages about runs to receivers. Absent without receivers. */
  outbox?: RunOutbox | undefined;
  store: RunStore;
  queue: RunQueue;
  runtime: Runtime;
  /** What runs have cost. Absent in a process that holds no budget of a day. */
  index?: () => Promise<RunIndex>;
  /** Whether orphaned processes of a tool become children of this process: true in the command line, false in a program that uses the library. */
  adoptsOrphans: boolean;
  /** Absent in a process that may supervise several runs at once: each of them starts a watchdog of its own. */
  watchdogs?: Watchdogs | undefined;
  /** Prepares the sandbox of the next run. Absent in a process that supervises one run. */
  standbys?: Standbys | undefined;
  /** The adapter that a manifest names (contract §1). */
  loadAdapter: (name: string) => Promise<AdapterKind>;
  /** Prepares workflows and pipes. Absent in a process that cannot start supervisors for their child runs. */
  prepareOrchestration?: (services: RunnerServices, request: RunRequest) => Promise<PreparedRun>;
  /** Starts a run for a tool, under a supervisor of its own, and returns its id. Absent in a process that cannot start supervisors. */
  startChild?: (request: RunRequest) => Promise<string>;
  /** Creates the executor of a task, a conversation with a program in turns. Absent in a process that runs no tasks. */
  conversationalExecutor?: (plan: ToolPlan) => Promise<(work: RunExecutor, writer: RunWriter) => RunExecutor>;
}

/** The project's plugins as the runner uses them. */
export interface RunPlugins {
  /** Passes the plan to the plugins, and returns it with the limits that they lowered. Throws E_POLICY_DENIED when one rejects it. */
  beforeRun(plan: ToolPlan): Promise<ToolPlan>;
  /** Lets the plugins observe a run from its first event on. */
  watch(writer: RunWriter): RunWatch;
}

/** The plugins that observe one run. */
export interface RunWatch {
  /** Call it when the first events of the run are in its log. */
  begun(): void;
  /** Waits a bounded time for plugins that lag behind, and records the events that they missed. */
  beforeEnd(): Promise<void>;
  /** Waits a bounded time until the plugins have received the last event. */
  afterEnd(): Promise<void>;
}

/** Sends what runs have to say to receivers outside, without holding the run up. */
export interface RunOutbox {
  /** Call it before the supervisor writes the first event of the run. Returns why nothing of the run is sent. */
  watch(writer: RunWriter): AcorError | undefined;
}
