import type { OperationContext } from '../compose/operation.ts';
import type { Screen } from '../compose/screen.ts';
import { countLines } from '../core/storage/follow.ts';
import type { AcorApp } from './acor-app.ts';
import { commandsForOpenQuestions, type FollowEnd, followRun, stateAfter } from './follow-run.ts';
import { RunView } from './run-view.ts';

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
  const view = RunView.open(screen, ctx.stdoutFd, { asks });
  try {
    for await (const lines of run.follow()) {
      await view.show(lines);
      if (!asks || stateAfter(lines) !== 'waiting_ai') continue;
      asks = (await putQuestions(view, run.runId, ctx, new AbortController().signal)) === 'settled';
      if (asks) continue;
      const { store } = await ctx.app.project();
      ctx.note(`acor: run ${run.runId} waits for an answer from another shell; Ctrl-C cancels it`);
      for (const command of await commandsForOpenQuestions(store, run.runId)) ctx.note(command);
    }
  } finally {
    await view.close();
  }
}

/** Shows a run that another process supervises, from a `seq` on, and puts its questions to the person at the terminal. */
export async function followForPerson(
  runId: string,
  since: number,
  screen: Screen,
  ctx: OperationContext<AcorApp>,
  signal: AbortSignal,
): Promise<FollowEnd> {
  const { store } = await ctx.app.project();
  const asks = mayAsk(screen, ctx);
  const view = RunView.open(screen, ctx.stdoutFd, { asks });
  let seen = since;
  const show = (lines: Uint8Array) => {
    seen += countLines(lines);
    return view.show(lines);
  };
  try {
    for (;;) {
      const end = await followRun(store, runId, { since: seen, signal, atQuestions: true }, show);
      if (end !== 'question' || !asks) return end;
      if ((await putQuestions(view, runId, ctx, signal)) === 'left')
        return signal.aborted ? 'stopped' : 'question';
    }
  } finally {
    await view.close();
  }
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
    import('./question-dialog.ts'),
    ctx.app.project(),
  ]);
  await view.putAside();
  try {
    return await putOpenQuestions(store, runId, signal);
  } finally {
    view.takeUp();
  }
}
