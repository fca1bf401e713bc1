import { kindOfName, withoutKind } from '../../protocol/run.ts';
import { unreachable } from '../../util/unreachable.ts';
import type { LoadedConfig } from '../config/load.ts';
import type { ToolEntry } from '../registry/registry.ts';
import type { RunRequest } from '../run/run-request.ts';
import type { RunnerServices } from '../run/services.ts';
import type { Workflow } from './model.ts';

type Call = Pick<RunRequest, 'kind' | 'tool' | 'args' | 'cwd'>;

/**
 * The tools that a request runs: its own, those of a pipe's stages, or those of a workflow's steps. What cannot be found or read is left
 * out: the plan of the run reports it.
 */
export async function calledTools(services: RunnerServices, call: Call): Promise<ToolEntry[]> {
  return toolsNamed(services, await namesOf(services, call));
}

/** The tools that a workflow and the workflows in it run. */
export async function toolsOfWorkflow(services: RunnerServices, workflow: Workflow): Promise<ToolEntry[]> {
  return toolsNamed(services, await namesIn(workflow, services.config));
}

async function namesOf(services: RunnerServices, { kind, tool, args, cwd }: Call): Promise<Set<string>> {
  switch (kind) {
    case 'tool':
    case 'task':
      return new Set([tool]);
    case 'pipe': {
      const { stagesOf } = await import('./pipe/pipe-call.ts');
      return new Set(stagesOf(args).map((stage) => stage.tool));
    }
    case 'workflow': {
      const { loadWorkflow } = await import('./inspect-workflow.ts');
      const loaded = await loadWorkflow(withoutKind(tool), { ...services, cwd }).catch(() => undefined);
      return loaded === undefined ? new Set() : namesIn(loaded.workflow, services.config);
    }
    default:
      return unreachable(kind);
  }
}

async function namesIn(workflow: Workflow, config: LoadedConfig): Promise<Set<string>> {
  const [{ allSteps, toolCallsOf, worksOf }, { readWorkflow }, { workflowFolders }] = await Promise.all([
    import('./check/checked-file.ts'),
    import('./file/read-workflow.ts'),
    import('./file/find-workflow.ts'),
  ]);
  const names = new Set<string>();
  const files = new Set<string>();
  const collect = (steps: ReturnType<typeof allSteps>) => {
    for (const { tool } of steps.flatMap(toolCallsOf)) names.add(tool);
    for (const work of steps.flatMap(worksOf)) if (work.kind === 'workflow') files.add(work.file);
  };
  collect(allSteps(workflow));
  // Iterating a Set includes the files that are added during the iteration.
  for (const file of files) {
    const read = await readWorkflow(file, { folders: workflowFolders(config) }).catch(() => undefined);
    if (read?.workflow !== undefined) collect(allSteps(read.workflow));
  }
  return names;
}

async function toolsNamed({ registry }: RunnerServices, names: ReadonlySet<string>): Promise<ToolEntry[]> {
  const found = (await registry.list()).filter(({ name }) => names.has(name));
  // The executors of tasks are not in the list.
  for (const name of names) {
    const executor =
      kindOfName(name) === 'task' ? await registry.find(name).catch(() => undefined) : undefined;
    if (executor !== undefined) found.push(executor);
  }
  return found;
}
