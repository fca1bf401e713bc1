import { AppError } from '../../compose/app-error.ts';
import type { OperationContext, OperationResult } from '../../compose/operation.ts';
import { writeEvents } from '../../compose/write-lines.ts';
import { eventCount } from '../../core/run/log-summary.ts';
import { recoverRun } from '../../core/run/recover-lost-run.ts';
import type { RunRequest } from '../../core/run/run-request.ts';
import type { RunSummary } from '../../core/run/run-summary.ts';
import { summaryOf } from '../../core/run/summary-of.ts';
import { commandsForOpenQuestions, type FollowEnd, followRun } from '../../core/supervision/follow-run.ts';
import { openQuestionsOf } from '../../core/supervision/open-question.ts';
import { startSupervisor } from '../../core/supervision/start-supervisor.ts';
import type { RunState } from '../../protocol/run-state.ts';
import { errorMessage } from '../../util/error-code.ts';
import type { AcorApp } from '../acor-app.ts';
import { resultOf } from './run-result.ts';
import type { ShownAs } from './run-start.ts';

type Started = { run_id: string; state: RunState; dir: string };

/** Runs a tool under a supervisor of its own, and follows it, unless the caller wants to go on at once. */
export async function runApart(
  request: RunRequest,
  flags: ShownAs,
  ctx: OperationContext<AcorApp>,
): Promise<OperationResult<RunSummary | Started>> {
  const { store } = await ctx.app.project();
  const { readStdin, ...given } = request;
  // How a lost run ended is not what its next attempt shows.
  if (request.again !== undefined) await recoverRun(store, request.again.runId);
  const since = request.again === undefined ? 0 : await eventCount(store, request.again.runId);
  const runId = await startSupervisor({ ...given, ...(readStdin && { stdin: readStdin() }) });
  return showDetached(runId, since, flags, ctx);
}

/** Follows a run that another process supervises, from a `seq` on, or only names it with `--detach`. */
export async function showDetached(
  runId: string,
  since: number,
  flags: ShownAs,
  ctx: OperationContext<AcorApp>,
): Promise<OperationResult<RunSummary | Started>> {
  const { store } = await ctx.app.project();
  const layout = store.layout(runId);
  if (flags.detach) {
    const { state } = await store.read(runId);
    const next = [`acor wait ${runId}`, `acor logs ${runId} --follow`];
    return { kind: 'data', data: { run_id: runId, state, dir: layout.dir }, next };
  }
  // Ctrl-C is a wish of the person who sits there; the other signals only mean that nobody looks any more.
  const stop = new AbortController();
  const stopListening = ctx.app.interrupts.listen((signal, count) => {
    if (signal === 'SIGINT')
      store.control
        .requestCancel(runId, `interrupted by ${signal}`, { force: count > 1 })
        .catch((error) => ctx.note(`acor: ${errorMessage(error)}`));
    else stop.abort();
  });
  try {
    const end = await follow(runId, since, flags, ctx, stop.signal);
    if (end === 'question') return questionOf(runId, flags, ctx);
    if (end === 'stopped') {
      ctx.note(`acor: run ${runId} goes on. Pick it up again with: acor attach ${runId}`);
      return { kind: 'streamed', exit: 0 };
    }
    const record = await recoverRun(store, runId);
    return resultOf(await summaryOf(store, runId, record), flags, ctx);
  } finally {
    stopListening();
  }
}

async function follow(
  runId: string,
  since: number,
  flags: ShownAs,
  ctx: OperationContext<AcorApp>,
  signal: AbortSignal,
): Promise<FollowEnd> {
  if (ctx.screen !== null) {
    const { followForPerson } = await import('../../cli/live/show-run.ts');
    return followForPerson(runId, since, ctx.screen, ctx, { signal, cancels: true });
  }
  const { store } = await ctx.app.project();
  const show = async (lines: Uint8Array) => (flags.stream ? writeEvents(ctx.stdoutFd, lines) : 'written');
  return followRun(store, runId, { since, signal, atQuestions: true, recovers: true }, show);
}

/** The run stands still: exit code 2, and the exact commands that answer. The run itself lives on. */
async function questionOf(
  runId: string,
  flags: ShownAs,
  ctx: OperationContext<AcorApp>,
): Promise<OperationResult<never>> {
  const { store } = await ctx.app.project();
  const next = await commandsForOpenQuestions(store, runId);
  if (ctx.screen === null && flags.stream) {
    for (const command of next) ctx.note(command);
    return { kind: 'streamed', exit: 2 };
  }
  const error = new AppError('E_ACTION_REQUIRED', `run ${runId} waits for an answer`, {
    hint: `Answer it, then: acor attach ${runId}`,
    next: [...next, `acor attach ${runId}`],
    exit: 2,
    details: { run_id: runId, questions: await openQuestionsOf(store, runId) },
  });
  return { kind: 'failure', error };
}
