import { kindOfName } from '../../protocol/run.ts';
import { loadRuntime } from '../process/load-runtime.ts';
import { Watchdogs } from '../process/watchdog.ts';
import type { Registry } from '../registry/registry.ts';
import type { Standbys } from '../run/attempt/standbys.ts';
import type { RunnerServices, RunOutbox } from '../run/services.ts';
import type { Project, ProjectCache, ProjectPlace } from './open-project.ts';

/** The services that runs of a project need. `list` is for workflow checks. */
export type ProjectServices = RunnerServices & { registry: Pick<Registry, 'list'> };

/** The runner's services in a project: its tools, the task executors, and the planners of workflows and pipes. */
export async function runnerServices(
  project: Project,
  options: {
    env: ProjectPlace['env'];
    /** The process adopts the tools' orphans. A library must not change its host process like this. */
    adoptOrphans: boolean;
    /** Given by a process that supervises one run after the other: it keeps their watchdog. */
    projects?: ProjectCache | undefined;
  },
): Promise<ProjectServices> {
  const { config, registry, store, workspaces } = project;
  const { env, adoptOrphans, projects } = options;
  const runtime = await loadRuntime();
  const services: ProjectServices = {
    ...project,
    outbox: hasReceivers(config) ? await outboxOf(project, env) : undefined,
    registry: {
      find: async (name, call) =>
        kindOfName(name) === 'task'
          ? (await import('../task/executor-tool.ts')).executorTool(name, config, env)
          : registry.find(name, call),
      list: () => registry.list(),
      errorCodes: () => registry.errorCodes(),
      languages: () => registry.languages(),
    },
    runtime,
    adoptsOrphans: adoptOrphans && runtime.adoptOrphans(),
    // In a process that supervises one run too: its end ends the shell, and to close a pipe takes a thread.
    watchdogs: projects ? keptWatchdogs(projects) : new Watchdogs(),
    standbys: projects && (await keptStandbys(projects)),
    loadAdapter: async (name) => (await import('../adapters/index.ts')).loadAdapter(name),
    prepareOrchestration: async (services, request) => {
      const [{ prepareOrchestration }, { poolOfWorkflow }] = await Promise.all([
        import('../workflow/prepare-orchestration.ts'),
        import('../supervision/supervisor-pool.ts'),
      ]);
      return prepareOrchestration(services, request, poolOfWorkflow(request.env));
    },
    conversationalExecutor: async (plan) => {
      const { TaskExecutor } = await import('../task/task-executor.ts');
      return (work, writer) =>
        new TaskExecutor({ config, store, runsDir: workspaces.root, plan, work, writer });
    },
    startChild: async (request) => {
      const [{ launchRequestOf }, { startSupervisor }] = await Promise.all([
        import('../workflow/launch-request.ts'),
        import('../supervision/start-supervisor.ts'),
      ]);
      return startSupervisor(await launchRequestOf(services, request));
    },
  };
  return services;
}

function keptWatchdogs(projects: ProjectCache): Watchdogs {
  projects.watchdogs ??= new Watchdogs();
  return projects.watchdogs;
}

/** Loaded late: a process that supervises one run has none. */
async function keptStandbys(projects: ProjectCache): Promise<Standbys> {
  const { Standbys } = await import('../run/attempt/standbys.ts');
  projects.standbys ??= new Standbys();
  return projects.standbys;
}

function hasReceivers({ config: { notify, telemetry } }: Project['config']): boolean {
  return notify.length > 0 || telemetry.endpoint !== undefined || telemetry.file !== undefined;
}

async function outboxOf({ config, workspaces }: Project, env: ProjectPlace['env']): Promise<RunOutbox> {
  const { runOutbox } = await import('../outbox/run-outbox.ts');
  return runOutbox(config, workspaces.root, env);
}
