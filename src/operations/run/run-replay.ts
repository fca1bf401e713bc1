import * as z from 'zod';
import { AppError } from '../../compose/app-error.ts';
import { eventsResult } from '../../compose/events-result.ts';
import type { OperationResult, StreamEnd } from '../../compose/operation.ts';
import { summariseLog } from '../../core/run/read-log.ts';
import { readRun } from '../../core/run/read-run.ts';
import { summaryOf } from '../../core/run/summarise-run.ts';
import { attachTo, previewReplay, seeRecording } from '../../protocol/next-steps.ts';
import { isFinal } from '../../protocol/run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { acorOperation } from '../define.ts';
import { runId } from '../shapes.ts';
import { replayed } from './compare-artifacts.ts';
import { playRecording } from './play-recording.ts';
import { runAbout } from './run-about.ts';
import { answerOf, interrupted } from './run-result.ts';
import { shownPlan } from './show-plan.ts';

const input = z.object({
  run: runId,
  speed: z.number().positive().optional().describe('How many times as fast as the run was; by default 1.'),
  at_once: z.boolean().default(false).describe('Emit all events without any wait.'),
  execute: z
    .boolean()
    .default(false)
    .describe(
      "Run the tool again, as a new run with the same arguments and answers, and report which artifacts differ. Outputs stay in the new run's folder; the tool repeats every change that it makes in place.",
    ),
  stream: z
    .boolean()
    .optional()
    .describe('With --execute: write events as they come; --no-stream writes one envelope at the end.'),
  dry_run: z.boolean().default(false).describe('With --execute: show what would run, and start nothing.'),
  plan: z
    .string()
    .optional()
    .describe('With --execute: the token of a dry run; ACOR rejects it when the plan has changed since.'),
  force: z
    .boolean()
    .default(false)
    .describe('With --execute: also a tool with `effects: destroys` in its manifest.'),
});

type Input = z.output<typeof input>;

/** The answer when a recording was played. */
const recorded = z.object({ run_id: z.string(), state: z.string() });

type Recorded = z.output<typeof recorded>;

const output = z.union([replayed, shownPlan, recorded]);

export const runReplay = acorOperation({
  name: 'run.replay',
  summary: 'Replay the events of an ended run, or execute it again and compare the artifacts.',
  effect: 'writes',
  idempotent: false,
  rateLimit: null,
  input,
  output,
  positionals: ['run'],
  example: 'acor replay r-0123456789abcdef --speed 10',
  moreExamples: [
    'acor replay r-0123456789abcdef --at-once',
    'acor replay r-0123456789abcdef --execute --no-stream',
  ],
  streams:
    'The recorded events byte for byte, or with --execute those of the new run; the last line is runner_end.',
  async run(given, ctx): Promise<OperationResult<z.output<typeof output>>> {
    checkFlags(given);
    const project = await ctx.app.project();
    const { store } = project;
    const record = await readRun(store, given.run);
    if (!isFinal(record.state)) throw stillGoing(record);
    if (given.execute) {
      const { executeAgain } = await import('./execute-again.ts');
      return executeAgain(record, given, ctx);
    }
    const { end } = await summariseLog(store, given.run);
    const endMs = Date.parse(String(end?.ts ?? record.ended_at));
    const pace = given.at_once ? 'at-once' : { speed: given.speed ?? 1 };
    return eventsResult(playRecording(store, given.run, pace, ctx.signal), {
      stream: true,
      about: () => runAbout(given.run, ctx, { asks: false, cancels: false, old: { endMs } }),
      left: undefined,
      end: async (): Promise<StreamEnd<Recorded>> => {
        if (ctx.signal.aborted) return { answer: interrupted() };
        const summary = await summaryOf(project, given.run, record);
        const answer = await answerOf(summary, { exit_code: 'acor' }, ctx.app);
        return { answer: { ...answer, data: { run_id: given.run, state: record.state } } };
      },
    });
  },
});

/** Rejects a flag that would have no effect. */
function checkFlags({ run, speed, at_once, execute, stream, dry_run, plan, force }: Input): void {
  const given = (flags: readonly (string | false)[]) => flags.filter((flag) => flag !== false);
  const playing = given([speed !== undefined && '--speed', at_once && '--at-once']);
  const executing = given([
    stream === false && '--no-stream',
    dry_run && '--dry-run',
    plan !== undefined && '--plan',
    force && '--force',
  ]);
  if (execute && playing.length > 0) {
    throw unfit(
      `${playing.join(' and ')} cannot be combined with --execute: a live run has its own pace`,
      run,
    );
  }
  if (playing.length > 1) throw unfit('--speed and --at-once cannot be combined', run);
  if (!execute && executing.length > 0) throw unfit(`${executing.join(' and ')} needs --execute`, run);
}

function unfit(message: string, run: string): AppError {
  return new AppError('E_USAGE', message, {
    hint: 'Without --execute, replay only emits recorded events. Remove the flag that does not fit.',
    next: [seeRecording(run), previewReplay(run)],
  });
}

function stillGoing({ run_id, state }: RunRecord): AppError {
  return new AppError(
    'E_USAGE',
    `run ${run_id} has not ended yet (${state}), so its recording is incomplete`,
    {
      hint: 'Follow the run instead, or replay it after its end.',
      next: [attachTo(run_id)],
    },
  );
}
