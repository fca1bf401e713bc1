import type { Watchdog } from '../../process/watchdog.ts';
import type { AttemptContext } from './attempt-context.ts';
import { ResourceWatch } from './resources/resource-watch.ts';
import type { RunOwnership } from './run-user-ownership.ts';
import type { ToolInput } from './tool-input.ts';
import { ToolOutput } from './tool-output.ts';

/** What a tool is started with. */
export interface PreparedAttempt {
  watchdog: Watchdog;
  /** Undefined for a tool that keeps the user of its supervisor. */
  ownership: RunOwnership | undefined;
  /** Undefined for a tool whose standard input is empty. */
  input: ToolInput | undefined;
  output: ToolOutput;
  resources: ResourceWatch;
}

/** Gives the run's files to a Unix user of its own, where the sandbox starts the tool as another user. */
export async function assignRunUser({
  services,
  plan,
  writer,
}: AttemptContext): Promise<RunOwnership | undefined> {
  const { sandboxed, tool, grants, runId } = plan;
  if (!sandboxed.changesUser) return undefined;
  const { takeOwnership } = await import('./run-user-ownership.ts');
  return takeOwnership(services.store, writer.layout, runId, {
    grants,
    toolFiles: tool.entry === null ? [tool.dir] : [tool.dir, tool.entry],
    isReachedByPath: sandboxed.isolation.tier > 1,
  });
}

export async function openOutput(attempt: AttemptContext, input: ToolInput | undefined): Promise<ToolOutput> {
  const { plan, writer } = attempt;
  if (!plan.isRead) return new ToolOutput(attempt, input, undefined);
  const { BackpressureWindow } = await import('../records/backpressure-window.ts');
  return new ToolOutput(attempt, input, new BackpressureWindow(writer));
}

export function prepareResources({ services, plan }: AttemptContext): Promise<ResourceWatch> {
  return ResourceWatch.prepare(plan.runId, plan.resources, {
    mayMove: services.adoptsOrphans,
    places: plan.sandboxed.groups,
  });
}
