import { randomBytes } from 'node:crypto';
import { createRequestStateCodec, type McpRequestContext } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { McpRequest } from '../operations/surfaces.ts';
import { RunWatch } from './events/run-watch.ts';
import { Host } from './host.ts';
import { KeptTools } from './kept-tools.ts';
import { LiveServers, type Subscriptions } from './live-servers.ts';
import { mcpServer, type Shared } from './mcp-server.ts';
import type { AskedState } from './run-call.ts';
import { StdioTransport } from './stdio-transport.ts';

/** A person may take a day to answer. */
const ASKED_FOR_S = 86_400;

/** Serves MCP until the client has closed the connection, or without end over HTTP. */
export async function serveMcp({ http, cwd, env, callLimitS, maxTools }: McpRequest): Promise<void> {
  const shared: Shared = {
    host: new Host({ cwd, env }),
    states: createRequestStateCodec<AskedState>({ key: randomBytes(32), ttlSeconds: ASKED_FOR_S }),
    declined: new Map(),
    kept: new KeptTools(),
    watch: new RunWatch(),
    callLimitS,
    maxTools,
  };
  if (http === null) return serveByStdio(shared);
  return (await import('./http.ts')).serveByHttp(shared, http);
}

/**
 * Serves one client on standard input and output until it closes them. Its runs have their own supervisors and
 * continue.
 */
async function serveByStdio(shared: Shared): Promise<void> {
  const transport = new StdioTransport();
  const live = new LiveServers();
  shared.kept.onListed = () => live.toolsChanged();
  const newServer = async ({ era }: McpRequestContext) => {
    const subscribed: Subscriptions = new Map();
    const server = await mcpServer(shared, { era, cancelsByLeaving: false, subscribed });
    return live.add(server, era === 'legacy' ? subscribed : undefined);
  };
  const handle = serveStdio(newServer, {
    transport,
    onerror: ({ message }) => process.stderr.write(`acor: ${message}\n`),
  });
  const stopWatching = live.watch(shared.host);
  await new Promise<void>((resolve) => {
    const onClose = transport.onclose;
    transport.onclose = () => {
      onClose?.();
      resolve();
    };
  });
  stopWatching();
  shared.host.close();
  await handle.close();
}
