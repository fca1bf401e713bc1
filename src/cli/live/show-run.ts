import { statSync } from 'node:fs';
import type { OperationContext } from '../../compose/operation.ts';
import type { Screen } from '../../compose/screen.ts';
import type { FileRunStore } from '../../core/store-files/file-run-store.ts';
import { countLines } from '../../core/store-files/follow.ts';
import {
  commandsForOpenQuestions,
  type FollowEnd,
  followRun,
  stateAfter,
} from '../../core/supervision/follow-run.ts';
import type { AcorApp } from '../../operations/acor-app.ts';
import { RunView, type ViewOptions } from './run-view.ts';

/** A run that this very process supervises. */
interface OwnRun {
  runId: string;
  follow(): AsyncIterable<Uint8Array>;
}

/**
 * Shows a run under this very process to the person at the terminal. Its questions are put to them in a dialog; when they
 * leave it, the run waits for an answer from another shell.
 */
export async function showToPerson(
  run: OwnRun,
  screen: Screen,
  ctx: OperationContext<AcorApp>,
): Promise<void> {
  let asks = mayAsk(screen, ctx);
  const view = await openView(run.runId, { bytes: 0 }, screen, ctx, { asks });
  const stopListening = reportInterrupts(view, ctx);
  try {
    for await (const lines of run.follow()) {
      await view.show(lines);
      if (!asks || stateAfter(lines) !== 'waiting_ai') continue;
      asks = (await putQuestions(view, run.runId, ctx, new AbortController().signal)) === 'settled';
      if (asks) continue;
      const { store } = await ctx.app.project();
      view.emit(`acor: run ${run.runId} waits for an answer from another shell; Ctrl-C cancels it`);
      for (const command of await commandsForOpenQuestions(store, run.runId)) view.emit(`  ${command}`);
    }
  } finally {
    stopListening();
    await view.close();
  }
}

/**
 * Shows a run that another process supervises, from a `seq` on, and puts its questions to the person at the terminal. With
 * `cancels`, an interrupt cancels the run.
 */
export async function followForPerson(
  runId: string,
  since: number,
  screen: Screen,
  ctx: OperationContext<AcorApp>,
  { signal, cancels }: { signal: AbortSignal; cancels: boolean },
): Promise<FollowEnd> {
  const { store } = await ctx.app.project();
  const asks = mayAsk(screen, ctx);
  const view = await openView(runId, { bytes: logBytes(store, runId) }, screen, ctx, { asks });
  const stopListening = cancels ? reportInterrupts(view, ctx) : () => {};
  let seen = since;
  const show = (lines: Uint8Array) => {
    seen += countLines(lines);
    return view.show(lines);
  };
  try {
    for (;;) {
      const end = await followRun(
        store,
        runId,
        { since: seen, signal, atQuestions: true, recovers: cancels },
        show,
      );
      if (end !== 'question' || !asks) return end;
      if ((await putQuestions(view, runId, ctx, signal)) === 'left')
        return signal.aborted ? 'stopped' : 'question';
    }
  } finally {
    stopListening();
    await view.close();
  }
}

/** Opens the view of a run. */
export async function openView(
  runId: string,
  old: ViewOptions['old'],
  screen: Screen,
  ctx: OperationContext<AcorApp>,
  how: Pick<ViewOptions, 'asks' | 'asLog'>,
): Promise<RunView> {
  const { config } = await ctx.app.project();
  const { waiting_stops_deadline: waitingStopsDeadline } = config.config.environment;
  return new RunView({ runId, old, screen, fd: ctx.stdoutFd, cwd: ctx.cwd, waitingStopsDeadline, ...how });
}

/** How much of a run's log is there already. */
export function logBytes(store: FileRunStore, runId: string): number {
  return statSync(store.layout(runId).events, { throwIfNoEntry: false })?.size ?? 0;
}

/** Says what an interrupt does, while it does it. */
function reportInterrupts(view: RunView, ctx: OperationContext<AcorApp>): () => void {
  return ctx.app.interrupts.listen((_signal, count) =>
    view.say(
      count > 1
        ? 'stopping at once'
        : 'stopping: the tool may end in order; Ctrl-C once more stops it at once',
    ),
  );
}

/** A question may only be put where a person sits at both ends, and where lines can be drawn again. */
function mayAsk(screen: Screen, ctx: OperationContext<AcorApp>): boolean {
  return ctx.interactive && screen.live;
}

async function putQuestions(
  view: RunView,
  runId: string,
  ctx: OperationContext<AcorApp>,
  signal: AbortSignal,
): Promise<'settled' | 'left'> {
  const [{ putOpenQuestions }, { store }] = await Promise.all([
    import('../../core/supervision/ask-person.ts'),
    ctx.app.project(),
  ]);
  await view.putAside();
  // On a terminal that is gone a dialog may never come to its end.
  const left = new Promise<'left'>((resolve) =>
    signal.addEventListener('abort', () => resolve('left'), { once: true }),
  );
  try {
    return await Promise.race([putOpenQuestions(store, runId, signal), left]);
  } finally {
    view.takeUp();
  }
}
