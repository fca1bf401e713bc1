import * as z from 'zod';
import { keptSteps, undecidedPlaces } from '../../core/review/undecided.ts';
import { lostOutcome } from '../../core/run/lost-outcome.ts';
import { stderrTail, summariseLog } from '../../core/run/read-log.ts';
import { readRun } from '../../core/run/read-run.ts';
import { recordedSteps } from '../../core/run/steps-after.ts';
import { cancelRun, followLogs, VERIFY } from '../../protocol/next-steps.ts';
import { isFinal } from '../../protocol/run.ts';
import { runRecord } from '../../protocol/run-record.ts';
import { acorOperation } from '../define.ts';
import {
  artifactShape,
  clocks,
  lost,
  runId,
  shownQuestions,
  survivorShape,
  unverifiedShape,
} from '../shapes.ts';
import { listedArtifacts } from './artifacts-of.ts';
import { clocksOf } from './run-clocks.ts';
import { unverified, unverifiedWords } from './run-unverified.ts';
import { answersToShow, questionsToShow } from './shown-questions.ts';

const shownRun = runRecord.extend({
  dir: z.string(),
  lost: lost.optional(),
  unverified: unverifiedShape.optional(),
  last_event_at: z.string().nullable(),
  ...clocks(),
  progress: z
    .object({ step: z.string().nullable(), pct: z.number().nullable(), msg: z.string().nullable() })
    .nullable(),
  questions: shownQuestions,
  result: z.record(z.string(), z.unknown()).nullable(),
  error: z.record(z.string(), z.unknown()).nullable(),
  cancelled_by: z.string().optional().describe('Who cancelled the run; absent where ACOR did.'),
  hint: z.string().nullable().describe('How to fix a failed run.'),
  stderr: z.array(z.string()).optional().describe('The last lines of stderr of a failed run.'),
  artifacts: z.array(artifactShape),
  undecided: z
    .array(
      z.object({
        path: z.string(),
        mode: z.enum(['review', 'snapshot']),
        state: z.enum(['open', 'pending', 'too_large']),
      }),
    )
    .optional()
    .describe(
      'The files and folders whose changes can be applied or discarded (review), or undone (snapshot).',
    ),
  survivors: z.array(survivorShape),
  usage: z.record(z.string(), z.unknown()).nullable(),
});

export const runShow = acorOperation({
  name: 'run.show',
  summary: 'Show one run: its state, progress, result and artifacts.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({ run: runId.default('last') }),
  output: shownRun,
  positionals: ['run'],
  list: 'artifacts',
  example: 'acor show r-0123456789abcdef',
  async run(input, ctx) {
    const { store, workspaces } = await ctx.app.project();
    const record = await readRun(store, input.run);
    const log = await summariseLog(store, input.run);
    const { end, ending, progress, lastEvent } = log;
    const stderr = record.state === 'failed' ? await stderrTail(store, input.run) : [];
    const { dir } = workspaces.of(input.run);
    const why = unverified(store, input.run);
    const undecided = undecidedPlaces(dir);
    // The log of a lost run has no end yet.
    const outcome = record.lost && end === undefined ? lostOutcome(record) : undefined;
    const data = {
      ...record,
      dir,
      ...(why && { unverified: why }),
      last_event_at: (lastEvent?.ts as string | undefined) ?? null,
      ...(await clocksOf(store, record, log)),
      progress: progress === undefined ? null : pickProgress(progress),
      questions: await questionsToShow(store, record),
      result: ending?.type === 'result' ? ending : null,
      error: ending?.type === 'error' ? ending : null,
      ...(typeof end?.cancelled_by === 'string' && { cancelled_by: end.cancelled_by }),
      hint:
        record.state === 'failed'
          ? (outcome?.hint ?? hintOf(end) ?? hintOf(log.failure) ?? hintOf(ending) ?? null)
          : null,
      ...(stderr.length > 0 && { stderr }),
      artifacts: await listedArtifacts(ctx.app, input.run),
      ...(undecided.length > 0 && {
        undecided: undecided.map(({ path, mode, state }) => ({ path, mode, state })),
      }),
      survivors: (end?.survivors as z.output<typeof survivorShape>[] | undefined) ?? [],
      usage: (end?.usage as Record<string, unknown> | undefined) ?? null,
    };
    const next = isFinal(record.state)
      ? [...keptSteps(input.run, dir), ...(await recordedSteps(store, record, end))]
      : [...(await answersToShow(store, input.run)), followLogs(input.run), cancelRun(input.run)];
    const warnings = [
      ...(why ? [unverifiedWords(input.run, why)] : []),
      ...((end?.warnings ?? []) as string[]),
    ];
    return { kind: 'data', data, next: why ? [...next, VERIFY] : next, warnings };
  },
});

function hintOf(event: Readonly<Record<string, unknown>> | undefined): string | undefined {
  return typeof event?.hint === 'string' && event.hint !== '' ? event.hint : undefined;
}

function pickProgress({ step, pct, msg }: Readonly<Record<string, unknown>>) {
  return {
    step: typeof step === 'string' ? step : null,
    pct: typeof pct === 'number' ? pct : null,
    msg: typeof msg === 'string' ? msg : null,
  };
}
