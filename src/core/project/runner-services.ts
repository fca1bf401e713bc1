import { loadRuntime } from '../process/runtime.ts';
import type { Registry } from '../registry/registry.ts';
import type { PreparedRun } from '../run/plan/prepared-run.ts';
import type { RunRequest } from '../run/run-request.ts';
import { PIPE_PREFIX, type RunnerServices, TASK_PREFIX } from '../run/services.ts';
import type { Project, ProjectPlace } from './open-project.ts';

/** What runs of a project need. `list` is for those who check workflows. */
export type ProjectServices = RunnerServices & { registry: Pick<Registry, 'list'> };

/** What the runner works with in a project: its tools, the executors of tasks, and what plans workflows and pipes. */
export async function runnerServices(
  project: Project,
  options: {
    env: ProjectPlace['env'];
    /** Orphans of tools become children of this process. A library does not change its host like this. */
    adoptOrphans: boolean;
  },
): Promise<ProjectServices> {
  const { config, registry, store } = project;
  const { env, adoptOrphans } = options;
  const runtime = await loadRuntime();
  return {
    ...project,
    registry: {
      find: async (name) =>
        name.startsWith(TASK_PREFIX)
          ? (await import('../task/executor-tool.ts')).executorTool(name, config, env)
          : registry.find(name),
      list: () => registry.list(),
      errorCodes: () => registry.errorCodes(),
      languages: () => registry.languages(),
    },
    runtime,
    adoptsOrphans: adoptOrphans && runtime.adoptOrphans(),
    loadAdapter: async (name) => (await import('../adapters/index.ts')).loadAdapter(name),
    planWorkflow: (services, request) => planWorkflow(services, registry, request),
    conversationalExecutor: async (plan) => {
      const { TaskExecutor } = await import('../task/task-executor.ts');
      return (work, writer) => new TaskExecutor({ config, store, plan, work, writer });
    },
  };
}

/** The steps of a workflow and the stages of a pipe are supervised by processes of the program `acor`. */
async function planWorkflow(
  services: RunnerServices,
  registry: Registry,
  request: RunRequest,
): Promise<PreparedRun> {
  const { SupervisorPool } = await import('../supervision/supervisor-pool.ts');
  const openHosts = () => new SupervisorPool(request.env);
  if (request.tool.startsWith(PIPE_PREFIX)) {
    const { plannedPipe } = await import('../workflow/pipe/planned-pipe.ts');
    return plannedPipe(services, request, openHosts);
  }
  const { plannedWorkflow } = await import('../workflow/engine/planned-workflow.ts');
  return plannedWorkflow({ ...services, registry }, request, openHosts);
}
