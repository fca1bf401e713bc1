import type { RunLauncher } from '../../src/core/ports/run-launcher.ts';
import { openProject } from '../../src/core/project/open-project.ts';
import { runnerServices } from '../../src/core/project/runner-services.ts';
import { runRequestOf } from '../../src/core/run/run-request.ts';
import type { RunnerServices } from '../../src/core/run/services.ts';
import { startRun } from '../../src/core/run/start-run.ts';
import { MemoryRunStore } from '../../src/core/store-memory/memory-run-store.ts';
import { commandOf } from '../../src/operations/command-forms.ts';
import type { TestProject } from './project.ts';

/** What runs the tools of a project in this process, with a store in memory; only their workspaces are files. */
export async function servicesInMemory(
  project: TestProject,
): Promise<RunnerServices & { store: MemoryRunStore }> {
  const env = project.environment();
  const opened = await openProject({ cwd: project.root, env, commandOf });
  const store = new MemoryRunStore(commandOf);
  const services = { ...(await runnerServices(opened, { env, adoptOrphans: false })), store };
  return {
    ...services,
    prepareOrchestration: async (own, request) => {
      const { prepareOrchestration } = await import('../../src/core/workflow/prepare-orchestration.ts');
      return prepareOrchestration(own, request, inlineLauncher(own));
    },
  };
}

/** Supervises each run in this process. */
export function inlineLauncher(services: RunnerServices): RunLauncher {
  return {
    async start(request) {
      const run = await startRun(services, runRequestOf(request));
      // The end of a run is data; what its store throws is thrown to who follows it.
      if ('ended' in run) run.ended.catch(() => {});
      return run.runId;
    },
    recorded: () => undefined,
    ended() {},
    close() {},
  };
}
