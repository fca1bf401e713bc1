import { resolve } from 'node:path';
import type { Interrupts } from '../cli/dialog/interrupts.ts';
import type { LoadedConfig } from '../core/config/load.ts';
import type { Plugins } from '../core/plugins/plugins.ts';
import type { RunQueue } from '../core/ports/run-queue.ts';
import type { Registry } from '../core/registry/registry.ts';
import type { PreparedRun } from '../core/run/plan/prepared-run.ts';
import type { RunRequest } from '../core/run/run-request.ts';
import { PIPE_PREFIX, type RunnerServices } from '../core/run/services.ts';
import type { Workspaces } from '../core/run/workspace.ts';
import type { FileRunStore } from '../core/store-files/file-run-store.ts';
import { type ErrorInfo, errorInfo } from '../protocol/error-codes.ts';
import type { Surfaces } from './surfaces.ts';

/** A project as operations see it. */
export interface Project {
  config: LoadedConfig;
  registry: Registry;
  store: FileRunStore;
  queue: RunQueue;
  workspaces: Workspaces;
  plugins: Plugins | undefined;
}

/** What every operation is given. The project is opened when the first operation asks for it, and only then. */
export class AcorApp {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly interrupts: Interrupts;
  /** What can be served from here; undefined for a caller that is a server itself, or a test. */
  readonly surfaces: Surfaces | undefined;
  readonly #note: (line: string) => void;
  #project: Promise<Project> | undefined;
  #codes: Readonly<Record<string, ErrorInfo>> = {};

  /** `note` writes a line for people to stderr. */
  constructor(options: {
    cwd: string;
    env: AcorApp['env'];
    interrupts: Interrupts;
    note?: (line: string) => void;
    surfaces?: Surfaces | undefined;
  }) {
    this.cwd = options.cwd;
    this.env = options.env;
    this.interrupts = options.interrupts;
    this.#note = options.note ?? (() => {});
    this.surfaces = options.surfaces;
  }

  project(): Promise<Project> {
    this.#project ??= this.#open();
    return this.#project;
  }

  /** What a run needs. The process adopts the orphans of its tools, so that none of them escapes. */
  async services(): Promise<RunnerServices & { registry: Pick<Registry, 'list'> }> {
    const [project, { loadRuntime }] = await Promise.all([
      this.project(),
      import('../core/process/runtime.ts'),
    ]);
    const runtime = await loadRuntime();
    this.#codes = await project.registry.errorCodes();
    const { config, registry } = project;
    return {
      ...project,
      registry: {
        find: async (name) =>
          name.startsWith('task:')
            ? (await import('../core/task/executor-tool.ts')).executorTool(name, config, this.env)
            : registry.find(name),
        list: () => registry.list(),
        errorCodes: () => registry.errorCodes(),
        languages: () => registry.languages(),
      },
      runtime,
      adoptsOrphans: runtime.adoptOrphans(),
      loadAdapter: async (name) => (await import('../core/adapters/index.ts')).loadAdapter(name),
      planWorkflow: (services, request) => planWorkflow(services, project.registry, request),
      conversationalExecutor: async (plan) => {
        const { TaskExecutor } = await import('../core/task/task-executor.ts');
        return (work, writer) =>
          new TaskExecutor({
            config,
            store: project.store,
            runsDir: project.workspaces.root,
            plan,
            work,
            writer,
          });
      },
    };
  }

  /** The row of a code, the project's own codes first. */
  errorInfo(code: string): ErrorInfo | undefined {
    return errorInfo(code, this.#codes);
  }

  /** The plugins of a project, if it names any. */
  async pluginsOf(config: LoadedConfig): Promise<Plugins | undefined> {
    if (config.config.plugins.length === 0) return undefined;
    return (await import('../core/plugins/plugins.ts')).Plugins.open(config, this.env);
  }

  async #open(): Promise<Project> {
    const [{ loadConfig }, { Registry }, { FileRunStore }, { FileRunQueue }, { Workspaces }] =
      await Promise.all([
        import('../core/config/load.ts'),
        import('../core/registry/registry.ts'),
        import('../core/store-files/file-run-store.ts'),
        import('../core/store-files/file-run-queue.ts'),
        import('../core/run/workspace.ts'),
      ]);
    const config = await loadConfig({ cwd: this.cwd, env: this.env });
    for (const warning of config.warnings) this.#note(`acor: ${warning}`);
    const plugins = await this.pluginsOf(config);
    const runsDir = resolve(config.root, config.config.project.runs_dir);
    return {
      config,
      registry: Registry.open(config, plugins),
      store: new FileRunStore(runsDir),
      workspaces: new Workspaces(runsDir),
      queue: new FileRunQueue(runsDir),
      plugins,
    };
  }
}

/** The steps of a workflow and the stages of a pipe are supervised by processes of this same program. */
async function planWorkflow(
  services: RunnerServices,
  registry: Registry,
  request: RunRequest,
): Promise<PreparedRun> {
  const { SupervisorPool } = await import('../core/supervision/supervisor-pool.ts');
  const openHosts = () => new SupervisorPool(request.env);
  if (request.tool.startsWith(PIPE_PREFIX)) {
    const { plannedPipe } = await import('../core/workflow/pipe/planned-pipe.ts');
    return plannedPipe(services, request, openHosts);
  }
  const { plannedWorkflow } = await import('../core/workflow/engine/planned-workflow.ts');
  return plannedWorkflow({ ...services, registry }, request, openHosts);
}
