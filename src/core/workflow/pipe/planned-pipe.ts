import type { ChildHosts } from '../../run/child-supervisors.ts';
import type { Planned } from '../../run/plan/prepared-run.ts';
import type { RunnerServices, RunRequest } from '../../run/services.ts';
import { PipeWork } from './pipe-executor.ts';
import { planPipe } from './plan-pipe.ts';

/** A pipe's run that may begin; `openHosts` gives its stages somebody who supervises them. */
export async function plannedPipe(
  services: RunnerServices,
  request: RunRequest,
  openHosts: () => ChildHosts,
): Promise<Planned> {
  const plan = await planPipe(services, request);
  return { plan, workWith: (writer) => new PipeWork(services, plan, writer, openHosts()) };
}
