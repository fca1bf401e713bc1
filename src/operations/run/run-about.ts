import type { OperationContext } from '../../compose/operation.ts';
import type { AcorApp } from '../acor-app.ts';

/** What a live view of a run needs to know beside its events. */
export interface RunAbout {
  runId: string;
  /** So many bytes of the log were there before it was followed: their events count from their own timestamps. Of a recording: when its run ended. */
  old: { bytes: number } | { endMs: number };
  waitingStopsDeadline: boolean;
  /** The questions for which the run waits are put to the person by the operation. */
  asks: boolean;
  /** An interrupt cancels the run. */
  cancels: boolean;
}

/** Describes a run to a live view. Without `old`, all that its log holds now is old. */
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
