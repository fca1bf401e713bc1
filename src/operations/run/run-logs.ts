import * as z from 'zod';
import { eventsResult } from '../../compose/events-result.ts';
import type { EventsResult, OperationContext, StreamEnd } from '../../compose/operation.ts';
import type { RunStore } from '../../core/ports/run-store.ts';
import { followToEnd } from '../../core/run/follow-to-end.ts';
import { readEvents } from '../../core/run/read-log.ts';
import { eventsIn } from '../../core/store-files/follow.ts';
import type { NextStep } from '../../protocol/next-steps.ts';
import type { AcorApp } from '../acor-app.ts';
import { acorOperation } from '../define.ts';
import { runId } from '../shapes.ts';
import { type RunAbout, runAbout } from './run-about.ts';
import { EXIT_INTERRUPTED } from './run-result.ts';

/** One answer has at most this many events; `next` reads on. */
const PAGE_EVENTS = 1000;

/** What a view of a log needs besides the events. */
export interface LogAbout extends RunAbout {
  /** Show only events of these types; empty means all. */
  types: readonly string[];
  follows: boolean;
}

const input = z.object({
  run: runId.default('last'),
  follow: z.boolean().default(false).describe('Continue until the run ends, one event a line.'),
  since: z.int().min(0).default(0).describe('Only events after this seq.'),
  type: z.array(z.string()).default([]).describe('Only events of this type; may be given several times.'),
  format: z
    .enum(['json', 'text'])
    .default('json')
    .describe('json: the events. text: one readable line for each.'),
});

const output = z.object({
  run_id: z.string(),
  events: z.array(z.record(z.string(), z.unknown())),
  last_seq: z.int().describe('The seq of the last event that was read: pass it to --since to read on.'),
});

export const runLogs = acorOperation({
  name: 'run.logs',
  summary: 'Read the events of a run, or follow them until it ends.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input,
  output,
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
    // A terminal and --format text get the whole log; an envelope gets one page.
    if (input.follow || input.format === 'text' || !ctx.structured) return logEvents(store, input, ctx);
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
      events.push(event);
      lastSeq = Number(event.seq);
    }
    return {
      kind: 'data',
      data: { run_id: input.run, events, last_seq: lastSeq },
      ...(hasMore && { hasMore, next: [nextEvents(input.run, lastSeq, input.type)] }),
    };
  },
});

function nextEvents(run: string, since: number, type: readonly string[]): NextStep {
  return { operation: 'run.logs', input: { run, since, type }, why: 'Read the next events.' };
}

/** The events as they are stored. A view filters by type itself, because it needs the other events to show the progress of the run. */
function logEvents(
  store: RunStore,
  { run, since, type: types, follow }: z.output<typeof input>,
  ctx: OperationContext<AcorApp>,
): EventsResult<z.output<typeof output>> {
  const { signal } = ctx;
  const all = follow
    ? followToEnd(store, run, { since, signal })
    : store.follow(run, { since, wait: false, signal });
  return eventsResult<void, z.output<typeof output>>(
    ctx.structured && types.length > 0 ? ofTypes(all, types) : all,
    {
      stream: true,
      about: async (): Promise<LogAbout> => {
        const about = await runAbout(run, ctx, { asks: false, cancels: false });
        return { ...about, types, follows: follow };
      },
      left: undefined,
      end: async (): Promise<StreamEnd<z.output<typeof output>>> => {
        const exit = signal.aborted ? EXIT_INTERRUPTED : 0;
        return { answer: { kind: 'data', data: { run_id: run, events: [], last_seq: since }, exit } };
      },
    },
  );
}

async function* ofTypes(
  batches: AsyncIterable<Uint8Array>,
  types: readonly string[],
): AsyncGenerator<Uint8Array, void> {
  for await (const lines of batches) {
    const wanted = eventsIn(lines).filter(({ type }) => types.includes(String(type)));
    if (wanted.length > 0) yield Buffer.from(wanted.map((event) => `${JSON.stringify(event)}\n`).join(''));
  }
}
