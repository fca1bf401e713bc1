import type { Planned } from '../../runner/planned.ts';
import type { RunnerServices, RunRequest } from '../../runner/services.ts';
import type { ChildHosts } from '../engine/child-hosts.ts';
import { PipeWork } from './pipe-work.ts';
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
