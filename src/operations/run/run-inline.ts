import type { OperationContext, OperationResult } from '../../compose/operation.ts';
import { answerSteps, type Question, valueStep } from '../../core/run/answers/question.ts';
import type { KnownRun } from '../../core/run/known-run.ts';
import type { Run } from '../../core/run/run.ts';
import type { RunRequest } from '../../core/run/run-request.ts';
import type { RunSummary } from '../../core/run/run-summary.ts';
import type { RunnerServices } from '../../core/run/services.ts';
import { startRun } from '../../core/run/start-run.ts';
import { attachTo, showRun } from '../../protocol/next-steps.ts';
import type { AcorApp } from '../acor-app.ts';
import type { EndedRun, StartedRun } from '../shapes.ts';
import { answerOf, type ShownAs } from './run-result.ts';
import { wantsStream } from './wants-stream.ts';

/** Runs a request with this process as its supervisor, unless this is a server. The run continues whether or not a reader takes its events. */
export async function runHere(
  services: RunnerServices,
  request: RunRequest,
  flags: ShownAs,
  ctx: OperationContext<AcorApp>,
): Promise<OperationResult<EndedRun | StartedRun>> {
  // The runs of a server outlive it.
  if (ctx.app.launcher !== undefined)
    return (await import('./run-detached.ts')).runApart(request, flags, ctx);
  const asks = ctx.person?.ask !== undefined;
  const onQuestion = (question: Question) => noteQuestion(run, question, ctx);
  const run: Run | KnownRun = await startRun(services, asks ? request : { ...request, onQuestion });
  if (run.isKnown) {
    ctx.note(
      `acor: run ${run.runId} was already started with this idempotency key, so no second run was started`,
    );
    const { showDetached } = await import('./run-detached.ts');
    return showDetached(run.runId, 0, flags, ctx);
  }
  // A program may stop to wait for its call; a command stays until the end of its run.
  const signal = ctx.app.surface === 'library' ? ctx.signal : undefined;
  let isCancelled = false;
  const stopListening = ctx.interrupts.listen((signal, count) => {
    isCancelled = true;
    void run.cancel(`interrupted by ${signal}`, { force: count > 1, by: ctx.app.principal.name });
  });
  // After the end of the run an interrupt only stops the output of its events.
  void run.ended.catch(() => {}).then(stopListening);
  return {
    kind: 'events',
    stream: wantsStream(flags.stream, ctx.env),
    events: asks ? withDialog(run, ctx) : untilLeft(run, () => isCancelled, ctx, signal),
    about: async () => {
      const { runAbout } = await import('./run-about.ts');
      return runAbout(run.runId, ctx, { asks, cancels: true, old: { bytes: 0 } });
    },
    ended: async () => {
      const summary = signal === undefined ? await run.ended : await endUnlessLeft(run, signal);
      if (summary === undefined) return { answer: { kind: 'data', data: await stateOf(run, ctx) } };
      return { answer: await answerOf(summary, { ...flags, hasAsked: run.hasAsked }, ctx.app) };
    },
  };
}

async function endUnlessLeft({ ended }: Run, signal: AbortSignal): Promise<RunSummary | undefined> {
  return (await import('./end-or-left.ts')).endOrLeft(ended, signal);
}

async function stateOf({ runId }: Run, { app }: OperationContext<AcorApp>): Promise<StartedRun> {
  return (await import('./run-detached.ts')).startedRunOf(await app.project(), runId);
}

/** A caller who only waits for the end would not learn that the run waits, too: for an answer. */
function noteQuestion(
  { runId }: Pick<Run, 'runId'>,
  question: Question,
  ctx: OperationContext<AcorApp>,
): undefined {
  if (!question.blocking) return;
  const action = JSON.stringify(question.action);
  const [step = valueStep(runId, question)] = answerSteps(runId, question);
  ctx.note(
    `acor: run ${runId} waits for an answer to ${action}. Answer from another shell: ${ctx.app.commandOf(step)}. The manifest of the tool that asks does not list this action; with "actions: [${action}]" in it, this command returns as soon as the tool asks`,
  );
}

/** Passes the events on; notes on stderr whether the run continues when stdout takes no more of them: its reader is gone, or its disk is full. */
async function* untilLeft(
  run: Run,
  isCancelled: () => boolean,
  ctx: OperationContext<AcorApp>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const { runId } = run;
  let isLeft = true;
  try {
    yield* run.follow(signal);
    isLeft = false;
  } catch (error) {
    isLeft = false;
    throw error;
  } finally {
    if (isLeft)
      ctx.note(
        isCancelled()
          ? // Ctrl-C ends every program of a shell's pipe.
            `acor: run ${runId} is being cancelled. See how it ended with: ${ctx.app.commandOf(showRun(runId))}`
          : `acor: stdout takes no more events; run ${runId} continues. Follow it with: ${ctx.app.commandOf(attachTo(runId))}`,
      );
  }
}

/** Passes the events on, and asks the person each question. After the person leaves one open, the run waits for an answer from another shell. */
async function* withDialog(run: Run, ctx: OperationContext<AcorApp>): AsyncGenerator<Uint8Array> {
  const { runId } = run;
  const [{ askAtTerminal }, { stepsForOpenQuestions, stateAfter }] = await Promise.all([
    import('./ask-at-terminal.ts'),
    import('../../core/supervision/follow-run.ts'),
  ]);
  let ask = await askAtTerminal(runId, ctx, new AbortController().signal);
  for await (const lines of run.follow()) {
    yield lines;
    if (ask === undefined || stateAfter(lines) !== 'waiting_ai' || (await ask()) === 'settled') continue;
    ask = undefined;
    const { store } = await ctx.app.project();
    ctx.person?.say(`acor: run ${runId} waits for an answer from another shell; Ctrl-C cancels it`);
    for (const step of await stepsForOpenQuestions(store, runId))
      ctx.person?.say(`  ${ctx.app.commandOf(step)}`);
  }
}
