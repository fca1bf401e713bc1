import {
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { OCCURRENCES, type OccurrenceName } from '../../operations/run/run-occurrences.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { clientOf } from '../client-of.ts';
import type { Host, OpenHost } from '../host.ts';
import { type EventPage, eventPage, type Wanted } from './event-page.ts';
import { type DeliveryMode, eventTypes } from './event-types.ts';
import type { RunWatch } from './run-watch.ts';

const NOT_FOUND = -32_011;
const FORBIDDEN = -32_012;
const DEFAULT_EVENTS = 50;
const MAX_EVENTS = 500;
const POLL_MS = 5000;
/** The specification asks for one at least every 30 s. */
const HEARTBEAT_MS = 20_000;
const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';

const filter = z.strictObject({ run: z.string().optional(), tool: z.string().optional() });
const wanted = z.looseObject({
  name: z.string(),
  arguments: filter.default({}),
  cursor: z.string().nullable().default(null),
  maxAgeMs: z.int().min(0).optional(),
});
const polled = z.looseObject({ ...wanted.shape, maxEvents: z.int().min(1).max(MAX_EVENTS).optional() });

/** Implements `events/list`, `events/poll` and `events/stream` of the events extension (SEP-3415). */
export function serveEvents(server: Server, host: Host, watch: RunWatch): void {
  const opened = (ctx: ServerContext) => host.open(clientOf(server, ctx));
  const modes: DeliveryMode[] = ['poll', 'push'];
  server.setRequestHandler('events/list', { params: z.looseObject({}) }, async () => ({
    events: eventTypes(modes),
  }));
  server.setRequestHandler('events/poll', { params: polled }, async ({ maxEvents, ...given }, ctx) => {
    const page = await pageOf(opened(ctx), { ...wantedOf(given), maxEvents: maxEvents ?? DEFAULT_EVENTS });
    return { ...page, events: page.events.map(({ cursor: _, ...event }) => event), nextPollMs: POLL_MS };
  });
  server.setRequestHandler('events/stream', { params: wanted }, async (given, ctx) => {
    await stream(opened(ctx), watch, { ...wantedOf(given), maxEvents: MAX_EVENTS }, ctx);
    return {};
  });
}

/** Sends events until the client cancels the request or closes its response. */
async function stream(
  open: OpenHost,
  watch: RunWatch,
  from: Wanted,
  { mcpReq }: ServerContext,
): Promise<void> {
  const { signal } = mcpReq;
  const send = (kind: string, params: Record<string, unknown>) => {
    const _meta = { [SUBSCRIPTION_ID]: mcpReq.id };
    return mcpReq.notify({ method: `notifications/events/${kind}`, params: { ...params, _meta } });
  };
  // Changes count from before the first look.
  await using changes = await watch.changes(open.app, signal);
  let page = await pageOf(open, from);
  await send('active', { cursor: page.cursor, truncated: page.truncated });
  while (!signal.aborted) {
    for (const event of page.events) await send('event', { ...event });
    const isWoken = page.hasMore || (await changes.next(HEARTBEAT_MS));
    if (signal.aborted) return;
    // A project that is invalid for a moment is looked at again after its next change.
    const next = await eventPage(open, { ...from, cursor: page.cursor }).catch(() => ({
      ...page,
      events: [],
    }));
    if (next.truncated && from.maxAgeMs === undefined)
      await send('active', { cursor: next.cursor, truncated: true });
    if (!isWoken && next.events.length === 0) await send('heartbeat', { cursor: next.cursor });
    page = next;
  }
}

function wantedOf({
  name,
  arguments: given,
  cursor,
  maxAgeMs,
}: z.output<typeof wanted>): Omit<Wanted, 'maxEvents'> {
  if (!OCCURRENCES.includes(name as OccurrenceName))
    throw new ProtocolError(NOT_FOUND, `there is no event ${JSON.stringify(name)}`, { kind: 'event' });
  return { name: name as OccurrenceName, filter: given, cursor, maxAgeMs };
}

/** As protocol errors: an invalid cursor, and a caller that may not list runs. */
async function pageOf(open: OpenHost, from: Wanted): Promise<EventPage> {
  try {
    return await eventPage(open, from);
  } catch (error) {
    if (!(error instanceof AcorError)) throw error;
    const code = error.code === 'E_PERMISSION' ? FORBIDDEN : ProtocolErrorCode.InvalidParams;
    throw new ProtocolError(code, `${error.code}: ${error.message}`);
  }
}
