import type { OperationContext, OperationResult } from '../../compose/operation.ts';
import type { Screen } from '../../compose/screen.ts';
import { followToEnd } from '../../core/run/follow-to-end.ts';
import type { AcorApp } from '../../operations/acor-app.ts';
import { EXIT_INTERRUPTED } from '../../operations/run/exit-interrupted.ts';
import { eventAsText } from '../present/event-text.ts';
import { logBytes, openView } from './show-run.ts';

/** Follows the log of a run at a terminal: a line for each event that is wanted, and below them how far the run is. */
export async function followLogForPerson(
  runId: string,
  since: number,
  screen: Screen,
  ctx: OperationContext<AcorApp>,
  wanted: (event: Readonly<Record<string, unknown>>) => boolean,
): Promise<OperationResult<never>> {
  const { store } = await ctx.app.project();
  const asLog = (event: Readonly<Record<string, unknown>>) =>
    wanted(event) ? eventAsText(event) : undefined;
  const view = await openView(runId, { bytes: logBytes(store, runId) }, screen, ctx, { asks: false, asLog });
  // An interrupt ends the following, not the process in the middle of a line.
  const stopListening = ctx.app.interrupts.listen(() => {});
  try {
    for await (const lines of followToEnd(store, runId, { since, signal: ctx.signal }))
      if ((await view.show(lines)) === 'closed') break;
  } finally {
    stopListening();
    await view.close();
  }
  return { kind: 'streamed', exit: ctx.signal.aborted ? EXIT_INTERRUPTED : 0 };
}
