import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { ProtocolError } from '@modelcontextprotocol/server';
import { isRefusal } from '../../operations/caller-refusals.ts';
import {
  CallbackError,
  type EventCallbacks,
  eventCallbacks,
  type Subscription,
  type SubscriptionProgress,
  sendToCallback,
} from '../../operations/run/event-callbacks.ts';
import type { OccurrenceName } from '../../operations/run/run-occurrences.ts';
import type { AcorError } from '../../protocol/acor-error.ts';
import { pause } from '../../util/pause.ts';
import type { Client } from '../client-of.ts';
import type { Host, OpenHost } from '../host.ts';
import { type EventOccurrence, eventPage, type Wanted } from './event-page.ts';
import type { RunChangeSignal, RunWatch } from './run-watch.ts';

const EXHAUSTED = -32_013;
const CALLBACK_FAILED = -32_015;
const MAX_SUBSCRIPTIONS = 100;
/** How long a subscription lives without a refresh: what a client asks for, within these bounds. */
const TTL_MS = { least: 60_000, usual: 3_600_000, most: 86_400_000 };
/** How long messages are signed with the secret before a change, too. */
const ROTATION_MS = 300_000;
/** When a message that failed is tried again; after the last time it is dropped. */
const PAUSES_MS = [5_000, 25_000, 120_000, 300_000];
const MAX_EVENTS = 100;
/** The specification allows receivers to refuse larger ones. */
const MAX_BODY_BYTES = 256 * 1024;
const MAX_MSG_CHARS = 2000;
/** How soon a server looks again while another one of the project delivers. */
const LOCKED_MS = 5_000;
/** How often subscriptions that have expired are removed. */
const EXPIRY_MS = 60_000;

/** What a client asks for with `events/subscribe`. */
export interface WantedCallback {
  wanted: Omit<Wanted, 'maxEvents'>;
  url: string;
  secret: string;
  /** Undefined: the usual time; null: without end, which is not granted. */
  ttlMs: number | null | undefined;
}

/**
 * Sends events to the callbacks that clients have registered, in order, from a cursor for each. Callbacks and cursors are files, so that
 * another server of the project continues where this one ended.
 */
export class Webhooks {
  readonly #host: Host;
  readonly #watch: RunWatch;
  #changes: RunChangeSignal | undefined;
  #isDelivering = false;

  constructor(host: Host, watch: RunWatch) {
    this.#host = host;
    this.#watch = watch;
  }

  /** Whether clients may register callbacks in the project as it is now. */
  async areOffered({ app }: OpenHost): Promise<boolean> {
    return (await eventCallbacks(app)).callbacks !== undefined;
  }

  /** What is wrong with the address of a callback; undefined for one that is allowed. */
  async problemOf(
    { app }: OpenHost,
    url: string,
  ): Promise<{ kind: 'invalid' | 'refused'; message: string } | undefined> {
    return (await eventCallbacks(app)).callbacks?.problemOf(url);
  }

  /** Registers a callback, or refreshes it. `page` is what the client missed since its cursor. */
  async subscribe(
    { app }: OpenHost,
    client: Client,
    { wanted, url, secret, ttlMs }: WantedCallback,
    page: { cursor: string; truncated: boolean },
  ): Promise<Record<string, unknown>> {
    const { files, callbacks } = await eventCallbacks(app);
    const id = subscriptionId(client, url, wanted);
    const all = files.list().filter((each) => each.expiresAtMs > Date.now());
    const live = all.find((each) => each.id === id);
    const subscription: Subscription = {
      id,
      client: clientName(client),
      name: wanted.name,
      arguments: wanted.filter,
      url,
      secret,
      ...rotated(live, secret),
      expiresAtMs: Date.now() + grantedMs(ttlMs),
      ...(wanted.maxAgeMs !== undefined && {
        notBefore: new Date(Date.now() - wanted.maxAgeMs).toISOString(),
      }),
    };
    const before = live && files.progress(id);
    if (live === undefined && all.length >= MAX_SUBSCRIPTIONS)
      throw new ProtocolError(EXHAUSTED, `this project has ${MAX_SUBSCRIPTIONS} subscriptions`, {
        limit: 'subscriptions',
        max: MAX_SUBSCRIPTIONS,
      });
    const isVerified = all.some((each) => each.client === subscription.client && each.url === url);
    if (!isVerified) await verify(callbacks!, subscription);
    // A client that refreshes is alive, so the next message is tried at once.
    const progress: SubscriptionProgress = before
      ? { ...before, failed: 0, retryAtMs: 0 }
      : { cursor: wanted.cursor ?? page.cursor, ...NOTHING_YET };
    files.write(subscription);
    files.writeProgress(id, progress, { durable: true });
    this.start();
    this.#changes?.wake();
    return {
      id,
      refreshBefore: new Date(subscription.expiresAtMs).toISOString(),
      cursor: progress.cursor,
      truncated: live === undefined && page.truncated,
      ...(before !== undefined && { deliveryStatus: statusOf(before) }),
    };
  }

  /** Returns whether there was one. */
  async unsubscribe(
    { app }: OpenHost,
    client: Client,
    { url, wanted }: Pick<WantedCallback, 'url' | 'wanted'>,
  ): Promise<boolean> {
    const { files } = await eventCallbacks(app);
    const id = subscriptionId(client, url, wanted);
    const found = files.read(id) !== undefined;
    files.remove(id);
    return found;
  }

  /** Delivers as long as there are subscriptions, in the background. */
  start(): void {
    if (this.#isDelivering) return;
    this.#isDelivering = true;
    this.#deliver()
      .catch(({ message }: Error) => process.stderr.write(`acor: webhooks: ${message}\n`))
      .finally(() => {
        this.#isDelivering = false;
      });
  }

  async #deliver(): Promise<void> {
    const unnamed = this.#host.open({ ...UNTRACED, name: undefined });
    const never = new AbortController().signal;
    const { files } = await eventCallbacks(unnamed.app);
    while (files.list().length > 0) {
      const release = files.claim();
      if (release === undefined) {
        await pause(LOCKED_MS);
        continue;
      }
      try {
        await using changes = await this.#watch.changes(unnamed.app, never);
        this.#changes = changes;
        for (let all = files.list(); all.length > 0; all = files.list()) {
          const times = await Promise.all(all.map((each) => this.#deliverTo(each)));
          await changes.next(Math.max(0, Math.min(Date.now() + EXPIRY_MS, ...times) - Date.now()));
        }
      } finally {
        this.#changes = undefined;
        release();
      }
    }
  }

  /** Delivers what is due; returns when the next try is. */
  async #deliverTo(subscription: Subscription): Promise<number> {
    const { id, name, arguments: filter, client, notBefore = '' } = subscription;
    const open = this.#host.open({ ...UNTRACED, name: client });
    const { files, callbacks } = await eventCallbacks(open.app);
    const now = Date.now();
    if (subscription.expiresAtMs <= now || callbacks === undefined) {
      files.remove(id);
      return Number.POSITIVE_INFINITY;
    }
    let progress = files.progress(id);
    if (progress === undefined || progress.retryAtMs > now) return progress?.retryAtMs ?? now + EXPIRY_MS;
    const save = (changed: Partial<SubscriptionProgress>) => {
      progress = { ...progress!, ...changed };
      // It may have been removed meanwhile.
      if (files.read(id) !== undefined) files.writeProgress(id, progress);
    };
    try {
      const wanted = { name: name as OccurrenceName, filter, cursor: progress.cursor, maxEvents: MAX_EVENTS };
      const page = await eventPage(open, wanted);
      if (page.truncated)
        await sendToCallback(callbacks, subscription, controlId('gap'), {
          type: 'gap',
          cursor: page.events[0] === undefined ? page.cursor : progress.cursor,
        });
      for (const event of page.events) {
        const isSent =
          event.timestamp >= notBefore && (await this.#send(callbacks, subscription, event, progress));
        const { failed, retryAtMs } = NOTHING_YET;
        const done = { ...NOTHING_YET, lastDeliveryAt: new Date().toISOString() };
        save({ ...(isSent ? done : { failed, retryAtMs }), cursor: event.cursor });
      }
      if (page.cursor !== progress.cursor) save({ cursor: page.cursor });
      return page.hasMore ? now : Number.POSITIVE_INFINITY;
    } catch (error) {
      if (isRefusal(error)) {
        await terminate(callbacks, subscription, error);
        files.remove(id);
        return Number.POSITIVE_INFINITY;
      }
      const retryAtMs = now + PAUSES_MS[Math.min(progress.failed, PAUSES_MS.length - 1)]!;
      // A project that is invalid for a moment is no fault of the receiver.
      if (!(error instanceof CallbackError)) save({ retryAtMs });
      else
        save({
          failed: progress.failed + 1,
          retryAtMs,
          lastError: error.problem,
          failedSince: progress.failedSince ?? new Date(now).toISOString(),
        });
      return retryAtMs;
    }
  }

  /** Sends an event; returns false for one that is dropped. Throws when it is to be tried again. */
  async #send(
    callbacks: NonNullable<EventCallbacks['callbacks']>,
    subscription: Subscription,
    event: EventOccurrence,
    { failed }: SubscriptionProgress,
  ): Promise<boolean> {
    try {
      await sendToCallback(callbacks, subscription, event.eventId, bodyOf(event));
      return true;
    } catch (error) {
      const isDropped = error instanceof CallbackError && (error.isFinal || failed >= PAUSES_MS.length);
      if (!isDropped) throw error;
      return false;
    }
  }
}

/** A delivery belongs to no trace of a client. */
const UNTRACED = { traceparent: undefined, tracestate: undefined };
const NOTHING_YET = { failed: 0, retryAtMs: 0, lastDeliveryAt: null, lastError: null, failedSince: null };

/** Over HTTP a caller has the token of the server; its name distinguishes it from others. */
function clientName({ name }: Client): string {
  return name ?? '';
}

/** The same for the same client, callback and events. */
function subscriptionId(client: Client, url: string, { name, filter }: WantedCallback['wanted']): string {
  const key = JSON.stringify([clientName(client), url, name, filter.run ?? null, filter.tool ?? null]);
  return `sub_${createHash('sha256').update(key).digest('hex').slice(0, 24)}`;
}

function rotated(live: Subscription | undefined, secret: string): Pick<Subscription, 'previous'> {
  if (live === undefined) return {};
  if (live.secret !== secret) return { previous: { secret: live.secret, untilMs: Date.now() + ROTATION_MS } };
  return live.previous === undefined ? {} : { previous: live.previous };
}

function grantedMs(asked: number | null | undefined): number {
  if (asked === undefined) return TTL_MS.usual;
  return Math.min(Math.max(asked ?? TTL_MS.most, TTL_MS.least), TTL_MS.most);
}

/** Asks the receiver whether it wants these messages, so that no client can have another one's address flooded. */
async function verify(
  callbacks: NonNullable<EventCallbacks['callbacks']>,
  subscription: Subscription,
): Promise<void> {
  const challenge = randomBytes(24).toString('base64url');
  let problem: string;
  try {
    const body = { type: 'verification', challenge };
    const answer = await sendToCallback(callbacks, subscription, controlId('verification'), body);
    if (isEcho(answer, challenge)) return;
    problem = 'challenge_failed';
  } catch (error) {
    if (!(error instanceof CallbackError)) throw error;
    problem = error.problem;
  }
  throw new ProtocolError(CALLBACK_FAILED, `the callback did not confirm that it wants events: ${problem}`, {
    reason: problem,
  });
}

function isEcho(answer: string, challenge: string): boolean {
  try {
    const echoed = Buffer.from(String(JSON.parse(answer).challenge));
    const expected = Buffer.from(challenge);
    return echoed.length === expected.length && timingSafeEqual(echoed, expected);
  } catch {
    return false;
  }
}

async function terminate(
  callbacks: NonNullable<EventCallbacks['callbacks']>,
  subscription: Subscription,
  { code, message }: AcorError,
): Promise<void> {
  const error = { code: -32_012, message: `${code}: ${message}` };
  await sendToCallback(callbacks, subscription, controlId('terminated'), { type: 'terminated', error }).catch(
    () => {},
  );
}

function controlId(type: string): string {
  return `msg_${type}_${randomBytes(12).toString('hex')}`;
}

/** An event as its receiver gets it. A long question comes without its options: acor_show has them. */
function bodyOf(event: EventOccurrence): object {
  if (Buffer.byteLength(JSON.stringify(event)) <= MAX_BODY_BYTES) return event;
  const { options: _, schema: __, msg, ...data } = event.data;
  return {
    ...event,
    data: { ...data, ...(msg !== undefined && { msg: String(msg).slice(0, MAX_MSG_CHARS) }) },
  };
}

function statusOf({ lastDeliveryAt, lastError, failedSince }: SubscriptionProgress): object {
  return {
    active: true,
    lastDeliveryAt,
    lastError,
    ...(failedSince !== null && { failedSince }),
  };
}
