import type { RunLauncher } from '../ports/run-launcher.ts';
import type { PreparedRun } from '../run/run-executor.ts';
import type { RunRequest } from '../run/run-request.ts';
import type { RunnerServices } from '../run/services.ts';

/** Prepares the run of a workflow or a pipe. `launcher` starts what supervises its children. */
export async function prepareOrchestration(
  services: RunnerServices,
  request: RunRequest,
  launcher: RunLauncher,
): Promise<PreparedRun> {
  return request.kind === 'pipe'
    ? preparePipe(services, request, launcher)
    : prepareWorkflow(services, request, launcher);
}

async function preparePipe(
  services: RunnerServices,
  request: RunRequest,
  launcher: RunLauncher,
): Promise<PreparedRun> {
  const [{ planPipe }, { PipeExecutor }] = await Promise.all([
    import('./pipe/plan-pipe.ts'),
    import('./pipe/pipe-executor.ts'),
  ]);
  const plan = await planPipe(services, request);
  return {
    plan,
    createExecutor: (writer) => new PipeExecutor(services, plan, writer, launcher),
  };
}

async function prepareWorkflow(
  services: RunnerServices,
  request: RunRequest,
  launcher: RunLauncher,
): Promise<PreparedRun> {
  const [{ planWorkflow }, { WorkflowExecutor }] = await Promise.all([
    import('./engine/plan-workflow.ts'),
    import('./engine/workflow-executor.ts'),
  ]);
  const plan = await planWorkflow(services, request);
  const { stepsAgain, version } = plan;
  return {
    plan,
    createExecutor: (writer) => new WorkflowExecutor(services, plan, writer, launcher),
    again: {
      reported: stepsAgain.length > 0 ? { steps_again: stepsAgain } : {},
      change: { tool_version: version },
    },
  };
}
