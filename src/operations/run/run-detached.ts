import { AppError } from '../../compose/app-error.ts';
import { eventsResult } from '../../compose/events-result.ts';
import type { OperationContext, OperationResult, StreamEnd } from '../../compose/operation.ts';
import type { RunStore } from '../../core/ports/run-store.ts';
import { warningsOf } from '../../core/run/read-log.ts';
import { readRun } from '../../core/run/read-run.ts';
import { recoverRun } from '../../core/run/recover-lost-run.ts';
import type { RunRequest } from '../../core/run/run-request.ts';
import { summaryOf } from '../../core/run/summarise-run.ts';
import type { RunHost } from '../../core/run/workspace.ts';
import { followRun, stepsForOpenQuestions } from '../../core/supervision/follow-run.ts';
import { openQuestionsOf } from '../../core/supervision/run-status.ts';
import { startSupervisor } from '../../core/supervision/start-supervisor.ts';
import { launchRequestOf } from '../../core/workflow/launch-request.ts';
import { attachTo, showRun, waitFor } from '../../protocol/next-steps.ts';
import { errorMessage } from '../../util/error-code.ts';
import type { AcorApp } from '../acor-app.ts';
import type { EndedRun, StartedRun } from '../shapes.ts';
import { askAtTerminal } from './ask-at-terminal.ts';
import { runAbout } from './run-about.ts';
import { answerOf, type ShownAs } from './run-result.ts';
import { withAnswers } from './shown-questions.ts';
import { wantsStream } from './wants-stream.ts';

/** Runs a request under a supervisor process of its own, and follows it, unless the caller detaches. */
export async function runApart(
  request: RunRequest,
  flags: ShownAs,
  ctx: OperationContext<AcorApp>,
): Promise<OperationResult<EndedRun | StartedRun>> {
  const project = await ctx.app.project();
  const { store } = project;
  // Recover a lost run first, so that its end is not among the events of the next attempt.
  if (request.again !== undefined) await recoverRun(project, request.again.runId);
  const since = request.again === undefined ? 0 : (await store.extent(request.again.runId)).events;
  const launch = await launchRequestOf(await ctx.app.services(), request);
  const runId = await (ctx.app.launcher?.start(launch) ?? startSupervisor(launch));
  return showDetached(runId, since, flags, ctx);
}

/** Follows a run that another process supervises, from a `seq` on; with `--detach` only returns its id. */
export async function showDetached(
  runId: string,
  since: number,
  flags: ShownAs,
  ctx: OperationContext<AcorApp>,
): Promise<OperationResult<EndedRun | StartedRun>> {
  const project = await ctx.app.project();
  const { store, workspaces } = project;
  if (flags.detach) {
    const next = [waitFor(runId), attachTo(runId)];
    return { kind: 'data', data: await startedRunOf(project, runId), next };
  }
  // With Ctrl-C the person cancels the run. Other signals only end this process, and the run continues.
  const stop = new AbortController();
  let isCancelled = false;
  const stopListening = ctx.interrupts.listen((signal, count) => {
    isCancelled ||= signal === 'SIGINT';
    if (signal === 'SIGINT')
      store.control
        .requestCancel(runId, `interrupted by ${signal}`, { force: count > 1, by: ctx.app.principal.name })
        .catch((error) => ctx.note(`acor: ${errorMessage(error)}`));
    else stop.abort();
  });
  const ask = await askAtTerminal(runId, ctx, stop.signal);
  // A server stops following for a caller that is gone, and the library for one that has aborted its call.
  const { signal } = ctx.app.surface === 'command' ? stop : ctx;
  const recorded = ctx.app.launcher?.recorded(runId);
  return eventsResult(
    followRun(store, runId, { since, signal, recorded, atQuestions: true, ask, recoversIn: workspaces }),
    {
      stream: wantsStream(flags.stream, ctx.env),
      about: () => runAbout(runId, ctx, { asks: ask !== undefined, cancels: true }),
      left: 'stopped',
      end: async (how): Promise<StreamEnd<EndedRun | StartedRun>> => {
        stopListening();
        if (how === 'question') return questionEnd(store, runId, ctx.app);
        if (how === 'stopped' && isCancelled) {
          ctx.note(
            `acor: run ${runId} is being cancelled. See how it ended with: ${ctx.app.commandOf(showRun(runId))}`,
          );
          return { answer: { kind: 'data', data: await startedRunOf(project, runId) } };
        }
        if (how === 'stopped') {
          ctx.note(`acor: run ${runId} continues. Follow it with: ${ctx.app.commandOf(attachTo(runId))}`);
          return { answer: { kind: 'data', data: await startedRunOf(project, runId) } };
        }
        const record = await recoverRun(project, runId);
        const answer = await answerOf(await summaryOf(project, runId, record), flags, ctx.app);
        // Loaded late: a detached run is not waited for.
        const { withVerdict } = await import('./run-unverified.ts');
        return { answer: withVerdict(answer, project.store, runId) };
      },
    },
  );
}

/** A run that continues without the caller. */
export async function startedRunOf({ store, workspaces }: RunHost, runId: string): Promise<StartedRun> {
  return { run_id: runId, state: (await readRun(store, runId)).state, dir: workspaces.of(runId).dir };
}

const HOW_TO_ANSWER =
  'Answer the question with acor answer, and --choice with an option or --value with JSON';

/** The end of the stream when the run waits: exit code 2, and the exact commands that answer. The run itself continues. */
export async function questionEnd(
  store: RunStore,
  runId: string,
  { commandOf }: Pick<AcorApp, 'commandOf'>,
): Promise<StreamEnd<never>> {
  const next = await stepsForOpenQuestions(store, runId);
  const questions = await withAnswers(runId, await openQuestionsOf(store, runId), commandOf);
  // Only the text of a question can say what it accepts. The run waits for those that block.
  const forms = questions.flatMap(({ blocking, answer_with }) => (blocking && answer_with) || []);
  const how =
    forms.length === 0 ? HOW_TO_ANSWER : `Answer with: ${forms.join('; ')}, where JSON stands for the answer`;
  const error = new AppError('E_ACTION_REQUIRED', `run ${runId} waits for an answer`, {
    hint: `${how}, then follow the run.`,
    next: [...next, attachTo(runId)],
    exit: 2,
    details: { run_id: runId, questions },
  });
  const notes = next.length > 0 ? [] : [`acor: run ${runId} waits for an answer. ${how}.`];
  return { answer: { kind: 'failure', error, warnings: await warningsOf(store, runId) }, next, notes };
}
