import type { ForwardedCommand } from '../../compose/forwarded-command.ts';
import { workflowUsage } from '../../core/registry/argument-problem.ts';
import { loadWorkflow } from '../../core/workflow/inspect-workflow.ts';
import { inputSpecsOf } from '../../core/workflow/model.ts';
import type { AcorApp } from '../acor-app.ts';
import { calleeInput } from '../run/callee-of-tool.ts';

/** Describes a workflow for help, flags and completion. Throws E_INPUT_NOT_FOUND, E_WORKFLOW_INVALID, E_PERMISSION and E_USAGE. */
export async function calleeOfWorkflow(name: string, app: AcorApp): Promise<ForwardedCommand> {
  const { workflow } = await loadWorkflow(name, { ...(await app.project()), cwd: app.cwd });
  const inputs = inputSpecsOf(workflow);
  return {
    name,
    summary: workflow.description ?? '',
    usage: workflowUsage(name, inputs),
    examples: [],
    inputs: inputs.map(calleeInput),
  };
}
