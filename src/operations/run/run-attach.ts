import * as z from 'zod';
import type { OperationContext } from '../../compose/operation.ts';
import { writeEvents } from '../../compose/write-lines.ts';
import { readRun } from '../../core/run/read-run.ts';
import { commandsForOpenQuestions, type FollowEnd, followRun } from '../../core/supervision/follow-run.ts';
import type { AcorApp } from '../acor-app.ts';
import { acorOperation } from '../define.ts';
import { EXIT_INTERRUPTED } from './exit-interrupted.ts';

export const runAttach = acorOperation({
  name: 'run.attach',
  summary: 'Pick a run up again: stream its events until it ends or waits for an answer.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    run: z.string().describe('The id of the run.'),
    since: z.int().min(0).default(0).describe('Only events after this seq.'),
  }),
  output: z.object({}),
  positionals: ['run'],
  example: 'acor attach r-0123456789abcdef',
  streams: 'Protocol events, one JSON object a line. Exit code 2 when the run waits for an answer.',
  async run(input, ctx) {
    const { store } = await ctx.app.project();
    await store.read(input.run);
    const end = await follow(input.run, input.since, ctx);
    if (end === 'question') {
      for (const command of await commandsForOpenQuestions(store, input.run)) ctx.note(command);
      return { kind: 'streamed', exit: 2 };
    }
    if (ctx.signal.aborted) {
      ctx.note(`acor: run ${input.run} goes on. Pick it up again with: acor attach ${input.run}`);
      return { kind: 'streamed', exit: EXIT_INTERRUPTED };
    }
    const { state, lost, message } = await readRun(store, input.run);
    if (lost) ctx.note(`acor: ${message}. Go on with: acor resume ${input.run}`);
    return { kind: 'streamed', exit: state === 'failed' || state === 'cancelled' ? 1 : 0 };
  },
});

async function follow(runId: string, since: number, ctx: OperationContext<AcorApp>): Promise<FollowEnd> {
  if (ctx.screen !== null) {
    const { followForPerson } = await import('../../cli/live/show-run.ts');
    // An interrupt ends the following, not the process in the middle of a line.
    const stopListening = ctx.app.interrupts.listen(() => {});
    try {
      return await followForPerson(runId, since, ctx.screen, ctx, { signal: ctx.signal, cancels: false });
    } finally {
      stopListening();
    }
  }
  const { store } = await ctx.app.project();
  const show = (lines: Uint8Array) => writeEvents(ctx.stdoutFd, lines);
  return followRun(store, runId, { since, signal: ctx.signal, atQuestions: true }, show);
}
