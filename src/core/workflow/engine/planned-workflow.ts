import type { ChildHosts } from '../../run/child-supervisors.ts';
import type { PreparedRun } from '../../run/plan/prepared-run.ts';
import type { RunRequest } from '../../run/run-request.ts';
import { planWorkflow, type WorkflowServices } from './plan-workflow.ts';
import { WorkflowExecutor } from './workflow-executor.ts';

/** A workflow's run that may begin; `openHosts` gives its children somebody who supervises them. */
export async function plannedWorkflow(
  services: WorkflowServices,
  request: RunRequest,
  openHosts: () => ChildHosts,
): Promise<PreparedRun> {
  const plan = await planWorkflow(services, request);
  const { stepsAgain, version } = plan;
  return {
    plan,
    createExecutor: (writer) => new WorkflowExecutor(services, plan, writer, openHosts()),
    again: {
      told: stepsAgain.length > 0 ? { steps_again: stepsAgain } : {},
      change: { tool_version: version },
    },
  };
}
