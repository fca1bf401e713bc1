import { InputPipe } from '../../process/input-pipe.ts';
import type { Watchdog } from '../../process/watchdog.ts';
import type { RecordFeed } from '../records/record-feed.ts';
import type { AttemptContext } from './attempt-context.ts';
import { ResourceWatch } from './resources/resource-watch.ts';
import type { RunOwnership } from './run-user-ownership.ts';
import { ToolOutput } from './tool-output.ts';

/** A tool's standard input: the answers to its questions, or the records of another run. */
export type ToolInput = InputPipe | RecordFeed;

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

/** Opens the standard input of a tool that reads records or answers; undefined for any other tool, whose input is empty. */
export async function openInput({
  services,
  plan,
  writer,
  race,
  adapter,
}: AttemptContext): Promise<ToolInput | undefined> {
  const { manifest } = plan.tool;
  if (manifest.stdin === 'records') {
    if (plan.reads === undefined) return undefined;
    const { RecordFeed } = await import('../records/record-feed.ts');
    return new RecordFeed(services, writer, plan.reads, (reason) => race.end({ kind: 'cancelled', reason }));
  }
  const hearsAnswers = manifest.actions.length > 0 && !adapter.hearsNoAnswers;
  return hearsAnswers ? new InputPipe(services.runtime, writer.layout.control) : undefined;
}

export async function openOutput(attempt: AttemptContext, input: ToolInput | undefined): Promise<ToolOutput> {
  const { plan, writer, options } = attempt;
  if (!plan.isRead) return new ToolOutput(attempt, input, undefined);
  const { BackpressureWindow } = await import('../records/backpressure-window.ts');
  return new ToolOutput(attempt, input, new BackpressureWindow(writer.log, options.control));
}

export function prepareResources({ services, plan }: AttemptContext): Promise<ResourceWatch> {
  return ResourceWatch.prepare(plan.runId, plan.resources, {
    mayMove: services.adoptsOrphans,
    places: plan.sandboxed.groups,
  });
}
