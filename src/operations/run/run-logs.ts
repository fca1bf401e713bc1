import * as z from 'zod';
import { eventAsText } from '../../cli/present/event-text.ts';
import type { OperationContext } from '../../compose/operation.ts';
import { writeEvents } from '../../compose/write-lines.ts';
import { followToEnd } from '../../core/run/follow-to-end.ts';
import { readEvents } from '../../core/run/read-events.ts';
import { readRun } from '../../core/run/read-run.ts';
import { eventsIn } from '../../core/store-files/follow.ts';
import type { AcorApp } from '../acor-app.ts';
import { acorOperation } from '../define.ts';

/** One answer holds at most so many events; `next` leads on. */
const PAGE_EVENTS = 1000;

export const runLogs = acorOperation({
  name: 'run.logs',
  summary: 'Read the events of a run, or follow them until it ends.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    run: z.string().describe('The id of the run.'),
    follow: z.boolean().default(false).describe('Go on until the run ends, one event a line.'),
    since: z.int().min(0).default(0).describe('Only events after this seq.'),
    type: z.array(z.string()).default([]).describe('Only events of this type; may be given several times.'),
    format: z
      .enum(['json', 'text'])
      .default('json')
      .describe('json: the events. text: one readable line for each.'),
  }),
  output: z.object({
    run_id: z.string(),
    events: z.array(z.record(z.string(), z.unknown())),
    last_seq: z.int().describe('The seq of the last event looked at: give it to --since to go on.'),
  }),
  positionals: ['run'],
  list: 'events',
  example: 'acor logs r-0123456789abcdef --type error --type runner_error',
  moreExamples: [
    'acor logs r-0123456789abcdef --follow --since 120',
    'acor logs r-0123456789abcdef --format text',
  ],
  streams: 'With --follow: protocol events, one JSON object a line; the last line is runner_end.',
  async run(input, ctx) {
    const { store } = await ctx.app.project();
    await store.read(input.run);
    const asText = input.format === 'text' || ctx.screen !== null;
    const wanted = (event: Readonly<Record<string, unknown>>) =>
      input.type.length === 0 || input.type.includes(String(event.type));
    if (input.follow && ctx.screen?.live) {
      const { followLogForPerson } = await import('../../cli/live/follow-log.ts');
      return followLogForPerson(input.run, input.since, ctx.screen, ctx, wanted);
    }
    if (input.follow || asText) {
      const lineOf = (event: Record<string, unknown>) => {
        const line = asText ? eventAsText(event) : JSON.stringify(event);
        return line === undefined ? [] : [`${line}\n`];
      };
      const asGiven = !asText && input.type.length === 0;
      const batches = input.follow
        ? followToEnd(store, input.run, { since: input.since, signal: ctx.signal })
        : store.follow(input.run, { since: input.since, wait: false, signal: ctx.signal });
      for await (const lines of batches) {
        const shown = asGiven ? lines : Buffer.from(eventsIn(lines).filter(wanted).flatMap(lineOf).join(''));
        if ((await writeEvents(ctx.stdoutFd, shown)) === 'closed') break;
      }
      if (input.follow) await noteIfLost(input.run, ctx);
      return { kind: 'streamed', exit: 0 };
    }
    const events: Record<string, unknown>[] = [];
    let lastSeq = input.since;
    let hasMore = false;
    for await (const event of readEvents(store, input.run, { since: input.since, wait: false })) {
      if (input.type.length > 0 && !input.type.includes(String(event.type))) {
        lastSeq = Number(event.seq);
        continue;
      }
      if (events.length === PAGE_EVENTS) {
        hasMore = true;
        break;
      }
      events.push({ ...event });
      lastSeq = Number(event.seq);
    }
    const types = input.type.map((type) => ` --type ${type}`).join('');
    return {
      kind: 'data',
      data: { run_id: input.run, events, last_seq: lastSeq },
      ...(hasMore && { hasMore, next: [`acor logs ${input.run} --since ${lastSeq}${types}`] }),
    };
  },
});

/** The log of a lost run has no end yet, and a reader does not write one. */
async function noteIfLost(runId: string, ctx: OperationContext<AcorApp>): Promise<void> {
  const { store } = await ctx.app.project();
  const { lost, message } = await readRun(store, runId);
  if (lost) ctx.note(`acor: ${message}. Go on with: acor resume ${runId}`);
}
