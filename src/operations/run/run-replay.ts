import * as z from 'zod';
import { AppError } from '../../compose/app-error.ts';
import type { OperationContext } from '../../compose/operation.ts';
import { writeEvents } from '../../compose/write-lines.ts';
import type { RunStore } from '../../core/ports/run-store.ts';
import { summariseLog } from '../../core/run/log-summary.ts';
import { readRun } from '../../core/run/read-run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { isFinal } from '../../protocol/run-state.ts';
import type { AcorApp } from '../acor-app.ts';
import { acorOperation } from '../define.ts';
import { EXIT_INTERRUPTED } from './exit-interrupted.ts';
import { type Pace, playRecording } from './play-recording.ts';
import { replayed } from './report-comparison.ts';
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

export const runReplay = acorOperation({
  name: 'run.replay',
  summary: 'Tell the events of a run that is over once more, or run it again and compare what it makes.',
  effect: 'writes',
  idempotent: false,
  rateLimit: null,
  input,
  output: z.union([replayed, shownPlan]),
  positionals: ['run'],
  example: 'acor replay r-0123456789abcdef --speed 10',
  moreExamples: [
    'acor replay r-0123456789abcdef --at-once',
    'acor replay r-0123456789abcdef --execute --no-stream',
  ],
  streams:
    'The recorded events byte for byte, or with --execute those of the new run; the last line is runner_end.',
  async run(given, ctx) {
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
    if ((await play({ store, runId: given.run, endMs }, pace, ctx)) === 'interrupted')
      return { kind: 'streamed', exit: EXIT_INTERRUPTED };
    return { kind: 'streamed', exit: record.state === 'completed' ? 0 : 1 };
  },
});

/** Shows a recording to an agent as it is, and to a person as a run is shown that goes on. */
async function play(
  { store, runId, endMs }: { store: RunStore; runId: string; endMs: number },
  pace: Pace,
  ctx: OperationContext<AcorApp>,
): Promise<'played' | 'interrupted'> {
  if (ctx.screen === null) {
    await playRecording(store, runId, pace, ctx.signal, (lines) => writeEvents(ctx.stdoutFd, lines));
    return 'played';
  }
  const { openView } = await import('../../cli/live/show-run.ts');
  const view = await openView(runId, { endMs }, ctx.screen, ctx, { asks: false });
  const stop = new AbortController();
  // The screen is left in order.
  const stopListening = ctx.app.interrupts.listen(() => stop.abort());
  try {
    await playRecording(store, runId, pace, stop.signal, (lines) => view.show(lines));
    return stop.signal.aborted ? 'interrupted' : 'played';
  } finally {
    stopListening();
    await view.close();
  }
}

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
    next: [`acor replay ${run} --at-once`, `acor replay ${run} --execute --dry-run`],
  });
}

function stillGoing({ run_id, state }: RunRecord): AppError {
  return new AppError('E_USAGE', `run ${run_id} is still going (${state}): there is no whole recording yet`, {
    hint: `Follow it: acor attach ${run_id}`,
    next: [`acor attach ${run_id}`],
  });
}
