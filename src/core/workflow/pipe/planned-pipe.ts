import type { ChildHosts } from '../../run/child-supervisors.ts';
import type { PreparedRun } from '../../run/plan/prepared-run.ts';
import type { RunRequest } from '../../run/run-request.ts';
import type { RunnerServices } from '../../run/services.ts';
import { PipeExecutor } from './pipe-executor.ts';
import { planPipe } from './plan-pipe.ts';

/** A pipe's run that may begin; `openHosts` gives its stages somebody who supervises them. */
export async function plannedPipe(
  services: RunnerServices,
  request: RunRequest,
  openHosts: () => ChildHosts,
): Promise<PreparedRun> {
  const plan = await planPipe(services, request);
  return { plan, createExecutor: (writer) => new PipeExecutor(services, plan, writer, openHosts()) };
}
