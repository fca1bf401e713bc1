import * as z from 'zod';
import { AppError } from '../../compose/app-error.ts';
import { eventsResult } from '../../compose/events-result.ts';
import type { OperationResult, StreamEnd } from '../../compose/operation.ts';
import { summariseLog } from '../../core/run/log-summary.ts';
import { readRun } from '../../core/run/read-run.ts';
import { attachTo, previewReplay } from '../../protocol/next-steps.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { isFinal } from '../../protocol/run-state.ts';
import { acorOperation } from '../define.ts';
import { EXIT_INTERRUPTED } from './exit-interrupted.ts';
import { playRecording } from './play-recording.ts';
import { replayed } from './report-comparison.ts';
import { runAbout } from './run-about.ts';
import { shownPlan } from './show-plan.ts';

const input = z.object({
  run: z.string().describe('The id of the run.'),
  speed: z.number().positive().optional().describe('So many times as fast as it was; 1 when not given.'),
  at_once: z.boolean().default(false).describe('Tell all events without any wait.'),
  execute: z
    .boolean()
    .default(false)
    .describe(
      "Run the tool again, as a new run with the same arguments and answers, and say which artifacts differ. Outputs stay in the new run's folder; what the tool changes in place, it changes again.",
    ),
  stream: z
    .boolean()
    .default(true)
    .describe('With --execute: write events as they come; --no-stream writes one envelope at the end.'),
  dry_run: z.boolean().default(false).describe('With --execute: show what would run, and start nothing.'),
  plan: z
    .string()
    .optional()
    .describe('With --execute: the token of the dry run that was looked at; a stale one is refused.'),
  force: z
    .boolean()
    .default(false)
    .describe('With --execute: also a tool whose manifest says that it destroys.'),
});

type Input = z.output<typeof input>;

/** A recording that was played. */
const recorded = z.object({ run_id: z.string(), state: z.string() });

type Recorded = z.output<typeof recorded>;

const output = z.union([replayed, shownPlan, recorded]);

export const runReplay = acorOperation({
  name: 'run.replay',
  summary: 'Tell the events of a run that is over once more, or run it again and compare what it makes.',
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
    const { store } = await ctx.app.project();
    const record = await readRun(store, given.run);
    if (!isFinal(record.state)) throw stillGoing(record);
    if (given.execute) {
      const { executeAgain } = await import('./execute-again.ts');
      return executeAgain(record, given, ctx);
    }
    const { end } = await summariseLog(store, given.run);
    const endMs = Date.parse(String(end?.ts ?? record.ended_at));
    const pace = given.at_once ? 'at-once' : { speed: given.speed ?? 1, endMs };
    return eventsResult(playRecording(store, given.run, pace, ctx.signal), {
      stream: true,
      about: () => runAbout(given.run, ctx, { asks: false, cancels: false, old: { endMs } }),
      left: undefined,
      end: async (): Promise<StreamEnd<Recorded>> => {
        const exit = ctx.signal.aborted ? EXIT_INTERRUPTED : record.state === 'completed' ? 0 : 1;
        return { answer: { kind: 'data', data: { run_id: given.run, state: record.state }, exit } };
      },
    });
  },
});

/** A flag that would do nothing is a mistake. */
function checkFlags({ run, speed, at_once, execute, stream, dry_run, plan, force }: Input): void {
  const given = (flags: readonly (string | false)[]) => flags.filter((flag) => flag !== false);
  const playing = given([speed !== undefined && '--speed', at_once && '--at-once']);
  const executing = given([
    !stream && '--no-stream',
    dry_run && '--dry-run',
    plan !== undefined && '--plan',
    force && '--force',
  ]);
  if (execute && playing.length > 0) {
    throw unfit(`${playing.join(' and ')} cannot go with --execute: what runs has a pace of its own`, run);
  }
  if (playing.length > 1) throw unfit('--speed and --at-once cannot go together', run);
  if (!execute && executing.length > 0) throw unfit(`${executing.join(' and ')} needs --execute`, run);
}

function unfit(message: string, run: string): AppError {
  return new AppError('E_USAGE', message, {
    hint: 'Give the one or the other: without --execute nothing is run, only told.',
    next: [
      { operation: 'run.replay', input: { run, at_once: true }, why: 'See the recording at once.' },
      previewReplay(run),
    ],
  });
}

function stillGoing({ run_id, state }: RunRecord): AppError {
  return new AppError('E_USAGE', `run ${run_id} is still going (${state}): there is no whole recording yet`, {
    hint: `Follow it: acor attach ${run_id}`,
    next: [attachTo(run_id)],
  });
}
