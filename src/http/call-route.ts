import type { Route } from '../compose/cli-app.ts';
import type { Envelope } from '../compose/envelope.ts';
import type { NextStep } from '../compose/next-step.ts';
import { readQuery } from '../compose/query-input.ts';
import type { AcorApp } from '../operations/acor-app.ts';
import { type OperationName, SERVERS } from '../operations/command-forms.ts';
import type { Exchange } from './exchange.ts';
import { HttpError } from './http-error.ts';
import { nextRequests } from './next-requests.ts';
import { readBody } from './read-body.ts';
import type { RepeatedCalls } from './repeated-calls.ts';
import { sendCached, sendEnvelope } from './reply.ts';

/** Whether an operation is offered by HTTP. */
function isOffered({ operation, hidden }: Route<AcorApp>): boolean {
  return hidden !== true && !SERVERS.includes(operation as OperationName);
}

/** Calls an operation: its input is the JSON body, or for one that only reads the query string of a GET. */
export async function callByHttp(
  exchange: Exchange,
  route: Route<AcorApp>,
  repeated: RepeatedCalls,
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
  const input = isGet ? asked : { ...asked, ...(await readBody(req)) };
  const call = async () => {
    const envelope = await exchange.open.call(op.name as OperationName, input, {
      signal: exchange.signal,
      selection,
    });
    return rendered(exchange, envelope);
  };
  if (isGet) return sendCached(req, res, await call());
  const key = req.headers['idempotency-key'];
  sendEnvelope(res, await (typeof key === 'string' ? withKey(key) : call()));

  /** The key is the operation's own where it has one, which is durable. */
  async function withKey(key: string) {
    if (!('idempotency_key' in op.input.shape)) return repeated.once(key, { op: op.name, input }, call);
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
