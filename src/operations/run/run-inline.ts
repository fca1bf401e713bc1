import type { OperationContext, OperationResult } from '../../compose/operation.ts';
import { writeEvents } from '../../compose/write-lines.ts';
import { Run } from '../../core/run/run.ts';
import type { RunRequest } from '../../core/run/run-request.ts';
import type { RunSummary } from '../../core/run/run-summary.ts';
import type { RunnerServices } from '../../core/run/services.ts';
import { startRun } from '../../core/run/start-run.ts';
import type { AcorApp } from '../acor-app.ts';
import { resultOf } from './run-result.ts';
import type { ShownAs } from './run-start.ts';

/** Runs a tool under this very process, and shows it while it goes. */
export async function runHere(
  services: RunnerServices,
  request: RunRequest,
  flags: ShownAs,
  ctx: OperationContext<AcorApp>,
): Promise<OperationResult<RunSummary | { run_id: string; state: string; dir: string }>> {
  const run = await startRun(services, request);
  if (!(run instanceof Run)) {
    ctx.note(`acor: run ${run.runId} was started with this idempotency key; no second one is`);
    const { showDetached } = await import('./run-detached.ts');
    return showDetached(run.runId, 0, flags, ctx);
  }
  const stopListening = ctx.app.interrupts.listen((signal, count) =>
    run.cancel(`interrupted by ${signal}`, { force: count > 1 }),
  );
  try {
    // A showing that fails, as on a full disk behind stdout, must not take the run with it.
    const shown = show(run, flags, ctx).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    const summary = await run.ended.catch(async (error: unknown) => {
      // What could be written is shown before the word on what could not.
      stopListening();
      await shown;
      throw error;
    });
    // From here on an interrupt only ends the showing.
    stopListening();
    const failed = await shown;
    if (failed !== undefined) throw failed.error;
    return resultOf(summary, flags, ctx);
  } finally {
    stopListening();
  }
}

/** Events for an agent, a live view for a person, nothing for one who wants an envelope. */
async function show(run: Run, flags: ShownAs, ctx: OperationContext<AcorApp>): Promise<void> {
  if (ctx.screen !== null) {
    const { showToPerson } = await import('../../cli/live/show-run.ts');
    return showToPerson(run, ctx.screen, ctx);
  }
  if (!flags.stream) return;
  for await (const lines of run.follow()) {
    if ((await writeEvents(ctx.stdoutFd, lines)) === 'written') continue;
    ctx.note(
      `acor: nobody reads stdout any more; run ${run.runId} goes on. Follow it with: acor logs ${run.runId} --follow`,
    );
    return;
  }
}
