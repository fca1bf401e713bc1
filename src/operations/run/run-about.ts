import type { OperationContext } from '../../compose/operation.ts';
import type { AcorApp } from '../acor-app.ts';

/** What a live view of a run needs besides the events. */
export interface RunAbout {
  runId: string;
  /**
   * The length of the log before the view followed it: the view times these events by their own timestamps. For a recording: when its run
   * ended.
   */
  old: { bytes: number } | { endMs: number };
  waitingStopsDeadline: boolean;
  /** The operation asks the person at the terminal the questions of the run. */
  asks: boolean;
  /** An interrupt cancels the run. */
  cancels: boolean;
}

/** Describes a run for a live view. Without `old`, everything that the log contains now is old. */
export async function runAbout(
  runId: string,
  ctx: OperationContext<AcorApp>,
  how: { asks: boolean; cancels: boolean; old?: RunAbout['old'] },
): Promise<RunAbout> {
  const { config, store } = await ctx.app.project();
  const old = how.old ?? { bytes: (await store.extent(runId)).bytes };
  const { waiting_stops_deadline: waitingStopsDeadline } = config.config.environment;
  return { runId, waitingStopsDeadline, ...how, old };
}
