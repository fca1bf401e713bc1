import type { IncomingMessage } from 'node:http';
import type { Route } from '../compose/cli-app.ts';
import type { Envelope } from '../compose/envelope.ts';
import type { NextStep } from '../compose/next-step.ts';
import { readQuery } from '../compose/query-input.ts';
import type { AcorApp } from '../operations/acor-app.ts';
import { type OperationName, SERVERS } from '../operations/command-forms.ts';
import { lossOf } from '../util/exact-json.ts';
import { parseObject } from '../util/parse-object.ts';
import { BodyError, readBody } from '../util/request-body.ts';
import type { Exchange } from './exchange.ts';
import { HttpError } from './http-error.ts';
import { nextRequests } from './next-requests.ts';
import type { RepeatedCalls } from './repeated-calls.ts';
import { sendCached, sendEnvelope } from './reply.ts';

/** Whether an operation is offered by HTTP. */
function isOffered({ operation, hidden }: Route<AcorApp>): boolean {
  return hidden !== true && !SERVERS.includes(operation as OperationName);
}

interface CallSettings {
  repeated: RepeatedCalls;
  maxBodyMs: number;
}

/** Calls an operation: its input is the JSON body, or for one that only reads the query string of a GET. */
export async function callByHttp(
  exchange: Exchange,
  route: Route<AcorApp>,
  { repeated, maxBodyMs }: CallSettings,
): Promise<void> {
  const { req, res, url } = exchange;
  const op = await route.load();
  const isGet = req.method === 'GET' || req.method === 'HEAD';
  if (req.method !== 'POST' && !(isGet && op.effect === 'reads')) {
    const allow = op.effect === 'reads' ? 'GET, HEAD, POST' : 'POST';
    res.setHeader('Allow', allow);
    throw new HttpError(405, 'E_USAGE', `${op.name} is not called by ${req.method}`, {
      hint: `Use ${allow}.`,
    });
  }
  const { input: asked, selection } = readQuery(op, url.searchParams);
  const input = isGet ? asked : { ...asked, ...(await readInput(req, maxBodyMs)) };
  const call = async () => {
    const envelope = await exchange.open.call(op.name as OperationName, input, {
      signal: exchange.signal,
      selection,
    });
    return rendered(exchange, envelope);
  };
  if (isGet) return sendCached(req, res, await call());
  // What only reads is done again: kept answers of its size would fill the memory.
  const key = op.effect === 'reads' ? undefined : req.headers['idempotency-key'];
  sendEnvelope(res, await (typeof key === 'string' ? withKey(key) : call()));

  /** The key is the operation's own where it has one, which is durable. */
  async function withKey(key: string) {
    if (!('idempotency_key' in op.input.shape)) {
      const { principal: client } = exchange.open.app;
      return repeated.once({ client, text: key }, { op: op.name, input, selection }, call);
    }
    input['idempotency_key'] ??= key;
    return call();
  }
}

async function rendered({ host, open }: Exchange, envelope: Envelope<NextStep>) {
  const { next, ...meta } = envelope.meta;
  if (next === undefined) return { ...envelope, meta };
  return { ...envelope, meta: { ...meta, next: await nextRequests(host, next, open.app) } };
}

/** The operations that a server offers, by name. */
export function offeredRoutes(routes: readonly Route<AcorApp>[]): ReadonlyMap<string, Route<AcorApp>> {
  return new Map(routes.filter(isOffered).map((route) => [route.operation, route]));
}

const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** The JSON object of a request; an empty body is an empty object. Throws for one that is too long, too slow, or no JSON object. */
async function readInput(req: IncomingMessage, maxMs: number): Promise<Record<string, unknown>> {
  const text = await readBody(req, { maxBytes: MAX_BODY_BYTES, maxMs }).catch((error: unknown) => {
    throw asHttpError(error);
  });
  if (text === '') return {};
  // A form of another site can send other types without asking.
  if (!/^application\/json\b/i.test(req.headers['content-type'] ?? ''))
    throw new HttpError(415, 'E_USAGE', 'the body must be application/json', {
      hint: 'Send the input as a JSON object, with Content-Type: application/json.',
    });
  const body = parseObject(text);
  const loss = body && lossOf(text, body);
  if (loss !== undefined) throw new HttpError(400, 'E_USAGE', `the body ${loss.mistake}`, { hint: loss.fix });
  if (body !== undefined) return body;
  throw new HttpError(400, 'E_USAGE', 'the body is not a JSON object', {
    hint: 'Send the input as a JSON object.',
  });
}

const HINTS = {
  400: 'Send the JSON text as UTF-8.',
  408: 'Send the request again, with its whole body at once.',
  413: 'Send less, or give a file by its path.',
};

function asHttpError(error: unknown): unknown {
  if (!(error instanceof BodyError)) return error;
  const { status, message } = error;
  return new HttpError(status, 'E_USAGE', message, { hint: HINTS[status] });
}
