import { eventsResult } from '../../compose/events-result.ts';
import type {
  DataResult,
  EventsResult,
  OperationContext,
  OperationResult,
  StreamEnd,
} from '../../compose/operation.ts';
import type { RunStore } from '../../core/ports/run-store.ts';
import { followToEnd } from '../../core/run/follow-to-end.ts';
import { readEvents } from '../../core/run/read-log.ts';
import { eventsIn } from '../../core/store-files/follow.ts';
import type { FollowEnd } from '../../core/supervision/follow-run.ts';
import type { NextStep } from '../../protocol/next-steps.ts';
import { RUNNER_TYPES, TASK_TYPES, TOOL_TYPES } from '../../protocol/v1/wire.ts';
import type { AcorApp } from '../acor-app.ts';
import { plainCommand } from '../define.ts';
import { type RunAbout, runAbout } from './run-about.ts';
import { interrupted } from './run-result.ts';
import { unverified, unverifiedWords } from './run-unverified.ts';
import { wantsStream } from './wants-stream.ts';

/** One answer has at most this many events; `next` reads on. */
const PAGE_EVENTS = 1000;

const PROTOCOL_TYPES: readonly string[] = [...TOOL_TYPES, ...TASK_TYPES, ...RUNNER_TYPES];

/** What a view of a log needs besides the events. */
export interface LogAbout extends RunAbout {
  /** Whether to show an event. */
  isWanted(event: Readonly<Record<string, unknown>>): boolean;
  follows: boolean;
}

/** Which events are read: as the input of `run.logs`. */
interface LogInput {
  run: string;
  follow: boolean;
  since: number;
  type: string[];
  text?: string | undefined;
  format: 'json' | 'text';
}

interface LogPage {
  run_id: string;
  events: Record<string, unknown>[];
  last_seq: number;
}

export async function readLogs(
  input: LogInput,
  ctx: OperationContext<AcorApp>,
): Promise<OperationResult<LogPage>> {
  const { store } = await ctx.app.project();
  await store.read(input.run);
  const why = unverified(store, input.run);
  // A terminal and --format text get the whole log; an envelope gets one page.
  if (input.follow || input.format === 'text' || !ctx.structured) {
    if (why) ctx.note(unverifiedWords(input.run, why));
    return logEvents(store, input, ctx);
  }
  const read = await pageOf(store, input, ctx);
  return why ? { ...read, warnings: [unverifiedWords(input.run, why), ...(read.warnings ?? [])] } : read;
}

export const plainRunLogs = plainCommand('run.logs', readLogs);

/** The events from `since` on, as many as the page has. Reading on from `last_seq` skips none. */
async function pageOf(
  store: RunStore,
  given: LogInput,
  { page, signal }: Pick<OperationContext<AcorApp>, 'page' | 'signal'>,
): Promise<DataResult<LogPage>> {
  const { run, since } = given;
  const { limit, offset = 0 } = page;
  const isWanted = filterOf(given);
  const isFiltered = given.type.length > 0 || given.text !== undefined;
  const most = Math.min(limit ?? PAGE_EVENTS, PAGE_EVENTS);
  const events: Record<string, unknown>[] = [];
  const strange = new Set(given.type.filter((type) => !PROTOCOL_TYPES.includes(type)));
  let lastSeq = since;
  let skipped = 0;
  let hasMore = false;
  for await (const event of readEvents(store, run, { since, wait: false, signal })) {
    const fits = isWanted(event);
    if (fits) strange.delete(String(event['type']));
    if (fits && skipped >= offset) {
      hasMore = events.length === most;
      if (hasMore) break;
      events.push(event);
    } else if (fits) skipped++;
    lastSeq = Number(event.seq);
  }
  return {
    kind: 'data',
    data: { run_id: run, events, last_seq: lastSeq },
    isPage: true,
    cutAfter: (event) => {
      const last_seq = Number((event as Record<string, unknown>)['seq']);
      return { data: { last_seq }, next: [nextEvents(given, last_seq)] };
    },
    ...(limit !== undefined && !hasMore && { total: skipped + events.length }),
    // Counting the events of a filter would read the whole log.
    ...(hasMore && !isFiltered && { total: (await store.extent(run)).events - since }),
    ...(hasMore && { hasMore, next: [nextEvents(given, lastSeq)] }),
    ...(strange.size > 0 && !hasMore && { warnings: [...strange].map(noSuchType) }),
  };
}

/** A tool may write events of types that the protocol does not have. */
function noSuchType(type: string): string {
  return `no event has the type '${type}', which the protocol does not have. Its types: ${PROTOCOL_TYPES.join(', ')}`;
}

/**
 * The events of a run for a server that passes them on, in batches of whole lines. Throws E_PERMISSION and E_RUN_NOT_FOUND before the
 * first batch, and E_POLICY_DENIED
 * between two batches when the policy no longer lets the caller read.
 */
export async function streamEvents(
  app: AcorApp,
  { run, since, follow }: { run: string; since: number; follow: boolean },
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  await mayRead(app, run)();
  const { store } = await app.project();
  await store.read(run);
  return storedEvents(store, { run, since, follow }, app, signal);
}

/** For a follower: the policy may be changed while it waits. */
function mayRead(app: AcorApp, run: string): () => Promise<void> {
  return () => app.authorize({ name: 'run.logs', effect: 'reads' }, { run });
}

/** Batches of whole lines: up to the end of the run with `follow`, otherwise what is stored now. */
function storedEvents(
  store: RunStore,
  { run, since, follow }: Pick<LogInput, 'run' | 'since' | 'follow'>,
  app: AcorApp,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  return follow
    ? followToEnd(store, run, { since, signal, checkReader: mayRead(app, run) })
    : store.follow(run, { since, wait: false, signal });
}

function nextEvents({ run, type, text }: LogInput, since: number, further: { follow?: true } = {}): NextStep {
  const filters = { ...(type.length > 0 && { type }), ...(text !== undefined && { text }) };
  const input = { run, since, ...filters, ...further };
  return { operation: 'run.logs', input, why: 'Read the next events.' };
}

function filterOf({ type, text }: LogInput): LogAbout['isWanted'] {
  const wanted = text?.toLowerCase();
  return (event) =>
    (type.length === 0 || type.includes(String(event['type']))) &&
    (wanted === undefined || JSON.stringify(event).toLowerCase().includes(wanted));
}

/** The events as they are stored. A view filters itself, because it needs the other events to show the progress of the run. */
function logEvents(store: RunStore, given: LogInput, ctx: OperationContext<AcorApp>): EventsResult<LogPage> {
  const { run, follow, format } = given;
  const { signal } = ctx;
  const isWanted = filterOf(given);
  const isFiltered = given.type.length > 0 || given.text !== undefined;
  const all = storedEvents(store, given, ctx.app, signal);
  const events = ctx.structured && isFiltered ? wantedIn(all, isWanted) : all;
  const stream = !follow || format === 'text' || wantsStream(undefined, ctx.env);
  return eventsResult<FollowEnd | undefined, LogPage>(events, {
    stream,
    unread: follow ? untilQuestion(store, given, ctx) : undefined,
    about: async (): Promise<LogAbout> => {
      const about = await runAbout(run, ctx, { asks: false, cancels: false });
      return { ...about, isWanted, follows: follow };
    },
    left: undefined,
    end: async (how): Promise<StreamEnd<LogPage>> => {
      if (signal.aborted) return { answer: interrupted() };
      const page = await pageOf(store, given, ctx);
      if (stream) for (const warning of page.warnings ?? []) ctx.note(warning);
      return { answer: how === 'question' ? await withAnswers(page, store, given) : page };
    },
  });
}

/** A caller without a stream could not answer a question of the run while it waits for the end. */
async function* untilQuestion(
  store: RunStore,
  { run, since }: Pick<LogInput, 'run' | 'since'>,
  { app, signal }: OperationContext<AcorApp>,
): AsyncGenerator<Uint8Array, FollowEnd> {
  const { followRun } = await import('../../core/supervision/follow-run.ts');
  const options = { since, signal, atQuestions: true, checkReader: mayRead(app, run) };
  return yield* followRun(store, run, options);
}

/** The page for a caller that has to answer before the run has more events. */
async function withAnswers(
  page: DataResult<LogPage>,
  store: RunStore,
  given: LogInput,
): Promise<DataResult<LogPage>> {
  const { stepsForOpenQuestions } = await import('../../core/supervision/follow-run.ts');
  const answers = await stepsForOpenQuestions(store, given.run);
  const goOn = page.next ?? [nextEvents(given, page.data.last_seq, { follow: true })];
  return { ...page, next: [...answers, ...goOn] };
}

async function* wantedIn(
  batches: AsyncIterable<Uint8Array>,
  isWanted: LogAbout['isWanted'],
): AsyncGenerator<Uint8Array, void> {
  for await (const lines of batches) {
    const wanted = eventsIn(lines).filter(isWanted);
    if (wanted.length > 0) yield Buffer.from(wanted.map((event) => `${JSON.stringify(event)}\n`).join(''));
  }
}
