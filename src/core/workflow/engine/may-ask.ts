import type { RunnerServices } from '../../run/services.ts';
import type { Step, Task, Workflow } from '../model.ts';

/** Whether a workflow may wait for an answer. A sub-workflow is assumed to. */
export async function mayAsk(
  { registry }: RunnerServices,
  { steps, finally: last }: Workflow,
): Promise<boolean> {
  const tools = new Set<string>();
  for (const step of [...steps, ...last]) {
    for (const { kind, onError, ...work } of tasksOf(step)) {
      if (kind === 'decision' || kind === 'workflow' || onError === 'ask') return true;
      if ('tool' in work) tools.add(work.tool);
      if ('stages' in work) for (const { tool } of work.stages) tools.add(tool);
    }
  }
  for (const tool of tools) if (await toolMayAsk(registry, tool)) return true;
  return false;
}

function tasksOf(step: Step): readonly (Step | Task)[] {
  const { kind } = step;
  // The step's `on_error` also applies to its tasks.
  return kind === 'parallel'
    ? [...step.tasks, ...step.tasks.map((task) => ({ ...task, onError: step.onError }))]
    : [step];
}

async function toolMayAsk(registry: RunnerServices['registry'], tool: string): Promise<boolean> {
  try {
    return (await registry.find(tool)).manifest.actions.length > 0;
  } catch {
    // An unknown tool is reported by the step that runs it.
    return false;
  }
}
