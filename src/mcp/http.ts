import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { toNodeHandler } from '@modelcontextprotocol/node';
import { createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server';
import type { McpRequest } from '../operations/surfaces.ts';
import { listenOnLoopback } from '../operations/system/listen.ts';
import { ambiguity, bearerToken, isOwnHost, isOwnOrigin, isSameSecret } from '../util/loopback.ts';
import { BodyError, MAX_BODY_MS, readBody } from '../util/request-body.ts';
import { Webhooks } from './events/webhooks.ts';
import { withExactBody } from './exact-arguments.ts';
import { LiveServers, notifyOfAll, type Subscriptions } from './live-servers.ts';
import { mcpServer, type Shared } from './mcp-server.ts';
import { Sessions } from './sessions.ts';

const PATH = '/mcp';
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/**
 * Serves any number of clients by HTTP, only on the loopback interface, without end. It only ends when it cannot
 * listen.
 */
export async function serveByHttp(
  given: Shared,
  { port, token, onListening }: NonNullable<McpRequest['http']>,
  maxBodyMs: number = MAX_BODY_MS,
): Promise<void> {
  const webhooks = new Webhooks(given.host, given.watch);
  const shared = { ...given, webhooks };
  const onerror = ({ message }: Error) => process.stderr.write(`acor: ${message}\n`);
  // Since 2026-07-28 a client cancels a call by closing its response; before that, by a notification.
  const handler = createMcpHandler(
    () => mcpServer(shared, { era: 'modern', cancelsByLeaving: true, subscribed: new Map() }),
    {
      legacy: 'reject',
      maxRequestBodySize: MAX_BODY_BYTES,
      onerror,
    },
  );
  const live = new LiveServers(handler.notify);
  shared.kept.onListed = () => live.toolsChanged();
  const newServer = async () => {
    const subscribed: Subscriptions = new Map();
    const server = live.add(
      await mcpServer(shared, { era: 'legacy', cancelsByLeaving: false, subscribed }),
      subscribed,
    );
    return { server, notifyOfAll: () => notifyOfAll(server, subscribed) };
  };
  const sessions = new Sessions(newServer, MAX_BODY_BYTES);
  const serve = toNodeHandler(
    {
      fetch: async (given) => {
        const request = await withExactBody(given);
        if (request instanceof Response) return request;
        const isLegacy = await isLegacyRequest(request, undefined, { maxRequestBodySize: MAX_BODY_BYTES });
        return isLegacy ? sessions.handle(request) : handler.fetch(request);
      },
    },
    { maxRequestBodySize: MAX_BODY_BYTES, onerror },
  );
  const serveWhole = async (req: IncomingMessage, res: ServerResponse) => {
    try {
      const body = await readBody(req, { maxBytes: MAX_BODY_BYTES, maxMs: maxBodyMs });
      await serve(withBody(req, body), res);
    } catch (error) {
      if (error instanceof BodyError) refuse(res, error.status, error.message);
      else res.destroy();
    }
  };
  const server = createServer((req, res) => {
    // In this order: a malicious web page learns nothing, whatever it sends.
    const why = ambiguity(req);
    if (why !== undefined) refuse(res, 400, why);
    else if (!isOwnHost(req.headers.host)) refuse(res, 403, 'The Host header must name this machine');
    else if (!isOwnOrigin(req.headers.origin)) refuse(res, 403, 'The Origin header must be of this machine');
    else if (!shows(token, req)) refuse(res, 401, 'Show the token: Authorization: Bearer <token>');
    else if (req.url?.split('?', 1)[0] !== PATH) refuse(res, 404, `MCP is served at ${PATH}`);
    else void serveWhole(req, res);
  });
  const listening = await listenOnLoopback(server, port);
  live.watch(shared.host);
  webhooks.start();
  await onListening(listening);
  await new Promise<never>(() => {});
}

/** The SDK has no limit for the time of a body, so it gets one that is complete. */
function withBody({ method = 'GET', url = '/', headers }: IncomingMessage, body: string) {
  return Object.assign(Readable.from([Buffer.from(body)]), { method, url, headers });
}

function shows(token: string, { headers }: IncomingMessage): boolean {
  const given = bearerToken(headers.authorization);
  return given !== undefined && isSameSecret(given, token);
}

function refuse(res: ServerResponse, status: number, message: string): void {
  const headers = {
    'Content-Type': 'application/json',
    ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
    // What the client sends later is not the next request.
    ...(status === 408 && { Connection: 'close' }),
  };
  res.writeHead(status, headers);
  res.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32000, message }, id: null }));
}
