import * as z from 'zod';
import { readRun } from '../../core/run/read-run.ts';
import { summaryOf } from '../../core/run/summarise-run.ts';
import { followRun } from '../../core/supervision/follow-run.ts';
import { waitFor } from '../../protocol/next-steps.ts';
import { drain } from '../../util/streams.ts';
import { acorOperation } from '../define.ts';
import { artifactShape, runId, shownQuestions } from '../shapes.ts';
import { questionEnd } from './run-detached.ts';
import { answerOf, endArtifacts } from './run-result.ts';
import { withVerdict } from './run-unverified.ts';
import { questionsToShow } from './shown-questions.ts';

/** The longest delay of a timer, in seconds: 24 days. */
const MAX_WAIT_S = 2_147_483;

export const runWait = acorOperation({
  name: 'run.wait',
  summary: 'Wait until a run ends or asks a question, without printing its events.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    run: runId,
    timeout: z
      .number()
      .positive()
      .max(MAX_WAIT_S)
      .meta({ unit: 's' })
      .optional()
      .describe('Stop waiting after this many seconds, or 5m; the run continues.'),
    until: z
      .enum(['ending', 'question'])
      .default('question')
      .describe('What to wait for: ending (only the end), or question (a question or the end).'),
  }),
  output: z.object({
    run_id: z.string(),
    state: z.string(),
    code: z.string().nullable(),
    waited: z.enum(['ended', 'question', 'timeout']),
    questions: shownQuestions,
    result: z.record(z.string(), z.unknown()).nullable(),
    artifacts: z.array(artifactShape),
  }),
  list: 'artifacts',
  positionals: ['run'],
  example: 'acor wait r-0123456789abcdef --timeout 540',
  async run(input, ctx) {
    const project = await ctx.app.project();
    const { store } = project;
    await store.read(input.run);
    const limit =
      input.timeout === undefined
        ? ctx.signal
        : AbortSignal.any([ctx.signal, AbortSignal.timeout(input.timeout * 1000)]);
    // Follow only new events: the record and the open questions already have the state so far.
    const since = (await store.extent(input.run)).events;
    const checkReader = () => ctx.app.authorize({ name: 'run.wait', effect: 'reads' }, { run: input.run });
    const options = { since, signal: limit, atQuestions: input.until === 'question', checkReader };
    const end = await drain(followRun(store, input.run, options));
    const record = await readRun(store, input.run);
    const summary = await summaryOf(project, input.run, record);
    const waited = end === 'stopped' ? ('timeout' as const) : end;
    const data = {
      run_id: input.run,
      state: record.state,
      code: record.code,
      waited,
      questions: await questionsToShow(store, record, ctx.app.commandOf),
      result: summary.result,
      artifacts: await endArtifacts(summary, ctx.app),
    };
    if (waited === 'question') return { ...(await questionEnd(store, input.run, ctx.app)).answer, data };
    if (waited === 'timeout') return { kind: 'data', data, next: [waitFor(input.run)] };
    const answer = await answerOf(summary, { exit_code: 'acor' }, ctx.app);
    return withVerdict({ ...answer, data }, store, input.run);
  },
});
