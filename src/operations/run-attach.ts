import * as z from 'zod';
import { settleIfLost } from '../core/runner/settle-lost.ts';
import { acorOperation } from './define.ts';
import { commandsForOpenQuestions, followRun } from './follow-run.ts';
import { writeEvents } from './write-events.ts';

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
    await settleIfLost(store, store.read(input.run));
    const show = (lines: Uint8Array) => writeEvents(ctx.stdoutFd, lines);
    const end = await followRun(
      store,
      input.run,
      { since: input.since, signal: ctx.signal, atQuestions: true },
      show,
    );
    if (end === 'question') {
      for (const command of await commandsForOpenQuestions(ctx, input.run)) ctx.note(command);
      return { kind: 'streamed', exit: 2 };
    }
    const { state } = await settleIfLost(store, store.read(input.run));
    return { kind: 'streamed', exit: state === 'failed' || state === 'cancelled' ? 1 : 0 };
  },
});
