import { AppError } from '../compose/app-error.ts';
import type { OperationContext, OperationResult } from '../compose/operation.ts';
import type { RunSummary } from '../core/runner/run.ts';
import type { RunRequest } from '../core/runner/services.ts';
import { summaryOf } from '../core/runner/summary-of.ts';
import { requestCancel } from '../core/storage/cancel-request.ts';
import { summariseLog } from '../core/storage/log-summary.ts';
import type { RunStore } from '../core/storage/run-store.ts';
import type { AcorApp } from './acor-app.ts';
import { commandsForOpenQuestions, type FollowEnd, followRun } from './follow-run.ts';
import { resultOf } from './run-result.ts';
import type { ShownAs } from './run-start.ts';
import { startSupervisor } from './start-supervisor.ts';
import { writeEvents } from './write-events.ts';

type Started = { run_id: string; state: 'running'; dir: string };

/** Runs a tool under a supervisor of its own, and follows it, unless the caller wants to go on at once. */
export async function runApart(
  request: RunRequest,
  flags: ShownAs,
  ctx: OperationContext<AcorApp>,
): Promise<OperationResult<RunSummary | Started>> {
  const { store } = await ctx.app.project();
  const { readStdin, ...given } = request;
  const since = request.again === undefined ? 0 : eventsOf(store, request.again.runId);
  const runId = await startSupervisor({ ...given, ...(readStdin && { stdin: readStdin() }) });
  const layout = store.layout(runId);
  if (flags.detach) {
    const next = [`acor wait ${runId}`, `acor logs ${runId} --follow`];
    return { kind: 'data', data: { run_id: runId, state: 'running', dir: layout.dir }, next };
  }
  // Ctrl-C is a wish of the person who sits there; the other signals only mean that nobody looks any more.
  const stop = new AbortController();
  const stopListening = ctx.app.interrupts.listen((signal, count) => {
    if (signal === 'SIGINT') requestCancel(layout, `interrupted by ${signal}`, { now: count > 1 });
    else stop.abort();
  });
  try {
    const end = await follow(runId, since, flags, ctx, stop.signal);
    if (end === 'question') return questionOf(runId, flags, ctx);
    if (end === 'stopped') {
      ctx.note(`acor: run ${runId} goes on. Pick it up again with: acor attach ${runId}`);
      return { kind: 'streamed', exit: 0 };
    }
    return resultOf(summaryOf(store, runId), flags, ctx);
  } finally {
    stopListening();
  }
}

/** How many events a run has so far. */
function eventsOf(store: RunStore, runId: string): number {
  return Number(summariseLog(store.layout(runId).events).lastEvent?.seq ?? 0);
}

async function follow(
  runId: string,
  since: number,
  flags: ShownAs,
  ctx: OperationContext<AcorApp>,
  signal: AbortSignal,
): Promise<FollowEnd> {
  const { store } = await ctx.app.project();
  const options = { since, signal, atQuestions: true };
  if (ctx.screen === null) {
    const show = async (lines: Uint8Array) => (flags.stream ? writeEvents(ctx.stdoutFd, lines) : 'written');
    return followRun(store, runId, options, show);
  }
  const { RunView } = await import('./run-view.ts');
  const view = RunView.open(ctx.screen, ctx.stdoutFd);
  try {
    return await followRun(store, runId, options, (lines) => view.show(lines));
  } finally {
    await view.close();
  }
}

/** The run stands still: exit code 2, and the exact commands that answer. The run itself lives on. */
async function questionOf(
  runId: string,
  flags: ShownAs,
  ctx: OperationContext<AcorApp>,
): Promise<OperationResult<never>> {
  const next = await commandsForOpenQuestions(ctx, runId);
  if (ctx.screen === null && flags.stream) {
    for (const command of next) ctx.note(command);
    return { kind: 'streamed', exit: 2 };
  }
  const error = new AppError('E_ACTION_REQUIRED', `run ${runId} waits for an answer`, {
    hint: `Answer it, then: acor attach ${runId}`,
    next: [...next, `acor attach ${runId}`],
    exit: 2,
    details: { run_id: runId },
  });
  return { kind: 'failure', error };
}
