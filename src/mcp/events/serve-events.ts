import {
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { isRefusal } from '../../operations/caller-refusals.ts';
import { OCCURRENCES, type OccurrenceName } from '../../operations/run/run-occurrences.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { clientOf } from '../client-of.ts';
import type { Host, OpenHost } from '../host.ts';
import { type EventPage, eventPage, type Wanted } from './event-page.ts';
import { type DeliveryMode, eventTypes } from './event-types.ts';
import type { RunWatch } from './run-watch.ts';
import type { Webhooks } from './webhooks.ts';

const NOT_FOUND = -32_011;
const FORBIDDEN = -32_012;
const UNSUPPORTED = -32_014;
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

/** A key of Standard Webhooks: `whsec_` and 24 to 64 bytes in base64. */
const secret = z
  .string()
  .refine(
    (text) => /^whsec_[A-Za-z0-9+/]+={0,2}$/.test(text) && isKey(Buffer.from(text.slice(6), 'base64')),
    {
      error: 'the secret must be whsec_ and 24 to 64 bytes in base64',
    },
  );
const subscribed = z.looseObject({
  ...wanted.shape,
  delivery: z.looseObject({ mode: z.string().default('webhook'), url: z.string(), secret }),
  ttlMs: z.int().min(1).nullable().optional(),
});
const unsubscribed = z.looseObject({ ...wanted.shape, delivery: z.looseObject({ url: z.string() }) });

/** Implements the methods of the events extension (SEP-3415); `webhooks` only for clients that show a token. */
export function serveEvents(
  server: Server,
  host: Host,
  { watch, webhooks }: { watch: RunWatch; webhooks: Webhooks | undefined },
): void {
  const opened = (ctx: ServerContext) => host.open(clientOf(server, ctx));
  server.setRequestHandler('events/list', { params: z.looseObject({}) }, async (_, ctx) => {
    const modes: DeliveryMode[] = ['poll', 'push'];
    if (await webhooks?.areOffered(opened(ctx))) modes.push('webhook');
    return { events: eventTypes(modes) };
  });
  server.setRequestHandler('events/subscribe', { params: subscribed }, async (given, ctx) => {
    const { delivery, ttlMs } = given;
    const open = opened(ctx);
    const from = wantedOf(given);
    const offered = await webhooksFor(webhooks, open, delivery.mode);
    const problem = await offered.problemOf(open, delivery.url);
    if (problem !== undefined)
      throw new ProtocolError(
        problem.kind === 'invalid' ? ProtocolErrorCode.InvalidParams : FORBIDDEN,
        problem.message,
      );
    const page = await pageOf(open, { ...from, maxEvents: MAX_EVENTS });
    const callback = { wanted: from, url: delivery.url, secret: delivery.secret, ttlMs };
    return offered.subscribe(open, clientOf(server, ctx), callback, page);
  });
  server.setRequestHandler('events/unsubscribe', { params: unsubscribed }, async (given, ctx) => {
    const open = opened(ctx);
    const callback = { wanted: wantedOf(given), url: given.delivery.url };
    const offered = await webhooksFor(webhooks, open, 'webhook');
    if (await offered.unsubscribe(open, clientOf(server, ctx), callback)) return {};
    throw new ProtocolError(NOT_FOUND, 'there is no such subscription', { kind: 'subscription' });
  });
  server.setRequestHandler('events/poll', { params: polled }, async ({ maxEvents, ...given }, ctx) => {
    const page = await pageOf(opened(ctx), { ...wantedOf(given), maxEvents: maxEvents ?? DEFAULT_EVENTS });
    return { ...page, events: page.events.map(({ cursor: _, ...event }) => event), nextPollMs: POLL_MS };
  });
  server.setRequestHandler('events/stream', { params: wanted }, async (given, ctx) => {
    await stream(opened(ctx), watch, { ...wantedOf(given), maxEvents: MAX_EVENTS }, ctx);
    return {};
  });
}

/** Sends events until the client cancels the request or closes its response. Throws when the client may no longer list runs. */
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
    const next = await nextPage(open, { ...from, cursor: page.cursor }, page);
    if (next.truncated && from.maxAgeMs === undefined)
      await send('active', { cursor: next.cursor, truncated: true });
    if (!isWoken && next.events.length === 0) await send('heartbeat', { cursor: next.cursor });
    page = next;
  }
}

/** A project that is invalid for a moment is looked at again after its next change. */
async function nextPage(open: OpenHost, from: Wanted, last: EventPage): Promise<EventPage> {
  try {
    return await eventPage(open, from);
  } catch (error) {
    if (isRefusal(error)) throw asProtocolError(error);
    return { ...last, events: [] };
  }
}

async function webhooksFor(webhooks: Webhooks | undefined, open: OpenHost, mode: string): Promise<Webhooks> {
  if (mode === 'webhook' && webhooks !== undefined && (await webhooks.areOffered(open))) return webhooks;
  throw new ProtocolError(UNSUPPORTED, `events are not delivered by ${mode} here`, {
    feature: 'deliveryMode',
    value: mode,
  });
}

function isKey({ length }: Buffer): boolean {
  return length >= 24 && length <= 64;
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

async function pageOf(open: OpenHost, from: Wanted): Promise<EventPage> {
  try {
    return await eventPage(open, from);
  } catch (error) {
    throw error instanceof AcorError ? asProtocolError(error) : error;
  }
}

/** An invalid cursor, or a caller that may not list runs. */
function asProtocolError(error: AcorError): ProtocolError {
  const code = isRefusal(error) ? FORBIDDEN : ProtocolErrorCode.InvalidParams;
  return new ProtocolError(code, `${error.code}: ${error.message}`);
}
