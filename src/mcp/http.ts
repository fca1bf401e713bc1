import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  localhostHostValidation,
  localhostOriginValidation,
  toNodeHandler,
} from '@modelcontextprotocol/node';
import { createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server';
import type { McpRequest } from '../operations/acor-app.ts';
import { AcorError } from '../protocol/acor-error.ts';
import { errorCode, errorMessage } from '../util/error-code.ts';
import { LiveServers } from './live-servers.ts';
import { mcpServer, type Shared } from './mcp-server.ts';
import { Sessions } from './sessions.ts';

const PATH = '/mcp';
const MAX_BODY_BYTES = 4 * 1024 * 1024;

/**
 * Serves any number of clients by HTTP, only on the loopback interface, without end. It only ends when it cannot
 * listen.
 */
export async function serveByHttp(
  shared: Shared,
  { port, token, onListening }: NonNullable<McpRequest['http']>,
): Promise<void> {
  const onerror = ({ message }: Error) => process.stderr.write(`acor: ${message}\n`);
  // Since 2026-07-28 a client cancels a call by closing its response; before that, by a notification.
  const handler = createMcpHandler(
    () => mcpServer(shared, { cancelsByLeaving: true, subscribed: new Set() }),
    {
      legacy: 'reject',
      maxRequestBodySize: MAX_BODY_BYTES,
      onerror,
    },
  );
  const live = new LiveServers(handler.notify);
  const newServer = async () => {
    const subscribed = new Set<string>();
    return live.add(await mcpServer(shared, { cancelsByLeaving: false, subscribed }), subscribed);
  };
  const sessions = new Sessions(newServer, MAX_BODY_BYTES);
  const serve = toNodeHandler(
    {
      fetch: async (request) => {
        const isLegacy = await isLegacyRequest(request, undefined, { maxRequestBodySize: MAX_BODY_BYTES });
        return isLegacy ? sessions.handle(request) : handler.fetch(request);
      },
    },
    { maxRequestBodySize: MAX_BODY_BYTES, onerror },
  );
  const isOfThisHost = localhostHostValidation();
  const isOfThisOrigin = localhostOriginValidation();
  const isKnown = tokenCheck(token);
  const server = createServer((req, res) => {
    // In this order: a malicious web page learns nothing, whatever it sends.
    if (!isOfThisHost(req, res) || !isOfThisOrigin(req, res)) return;
    if (!isKnown(req)) refuse(res, 401, 'Show the token: Authorization: Bearer <token>');
    else if (req.url?.split('?', 1)[0] !== PATH) refuse(res, 404, `MCP is served at ${PATH}`);
    else void serve(req as Parameters<typeof serve>[0], res);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(port, error)));
    server.listen(port, '127.0.0.1', resolve);
  });
  live.watch(shared.host);
  await onListening((server.address() as AddressInfo).port);
  await new Promise<never>(() => {});
}

/** Compares digests, so that timing reveals neither the length of the token nor its beginning. */
function tokenCheck(token: string): (req: IncomingMessage) => boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const expected = digest(token);
  return ({ headers }) => {
    const given = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
    return given !== undefined && timingSafeEqual(digest(given), expected);
  };
}

function refuse(res: ServerResponse, status: number, message: string): void {
  const headers = {
    'Content-Type': 'application/json',
    ...(status === 401 && { 'WWW-Authenticate': 'Bearer' }),
  };
  res.writeHead(status, headers);
  res.end(JSON.stringify({ jsonrpc: '2.0', error: { code: -32000, message }, id: null }));
}

function cannotListen(port: number, error: unknown): AcorError {
  const isTaken = errorCode(error) === 'EADDRINUSE';
  return new AcorError('E_USAGE', `port ${port} is not available: ${errorMessage(error)}`, {
    hint: isTaken
      ? 'Another program listens there: give another --port, or 0 for a free one.'
      : 'Give another --port.',
  });
}
