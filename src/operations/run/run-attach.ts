import * as z from 'zod';
import { eventsResult } from '../../compose/events-result.ts';
import type { StreamEnd } from '../../compose/operation.ts';
import { readRun } from '../../core/run/read-run.ts';
import { summaryOf } from '../../core/run/summarise-run.ts';
import { followRun } from '../../core/supervision/follow-run.ts';
import { attachTo } from '../../protocol/next-steps.ts';
import { isFinal } from '../../protocol/run.ts';
import { acorOperation } from '../define.ts';
import { ci, type EndedRun, runId, runSummary, type StartedRun, startedRun, stream } from '../shapes.ts';
import { askAtTerminal } from './ask-at-terminal.ts';
import { runAbout } from './run-about.ts';
import { questionEnd, startedRunOf } from './run-detached.ts';
import { answerOf, interrupted } from './run-result.ts';
import { withVerdict } from './run-unverified.ts';
import { wantsStream } from './wants-stream.ts';

export const runAttach = acorOperation({
  name: 'run.attach',
  summary: 'Follow a run: stream its events until it ends or waits for an answer.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    run: runId,
    stream,
    ci,
    since: z.int().min(0).default(0).describe('Only events after this seq.'),
  }),
  output: z.union([runSummary, startedRun]),
  list: 'artifacts',
  positionals: ['run'],
  example: 'acor attach r-0123456789abcdef',
  streams: 'Protocol events, one JSON object a line. Exit code 2 when the run waits for an answer.',
  async run({ run, since, stream: flag }, ctx) {
    const { app, signal, env } = ctx;
    const project = await app.project();
    const { store } = project;
    await store.read(run);
    const ask = await askAtTerminal(run, ctx, signal);
    const checkReader = () => app.authorize({ name: 'run.attach', effect: 'reads' }, { run });
    return eventsResult(followRun(store, run, { since, signal, atQuestions: true, ask, checkReader }), {
      stream: wantsStream(flag, env),
      about: () => runAbout(run, ctx, { asks: ask !== undefined, cancels: false }),
      left: 'stopped',
      end: async (how): Promise<StreamEnd<EndedRun | StartedRun>> => {
        if (how === 'question') return questionEnd(store, run, app);
        if (signal.aborted) {
          ctx.note(`acor: run ${run} continues. Follow it with: ${app.commandOf(attachTo(run))}`);
          return { answer: interrupted([attachTo(run)]) };
        }
        const record = await readRun(store, run);
        if (!isFinal(record.state))
          return { answer: { kind: 'data', data: await startedRunOf(project, run) } };
        const answer = await answerOf(await summaryOf(project, run, record), { exit_code: 'acor' }, app);
        return { answer: withVerdict(answer, store, run) };
      },
    });
  },
});
