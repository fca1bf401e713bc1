import { randomBytes } from 'node:crypto';
import { createRequestStateCodec } from '@modelcontextprotocol/server';
import type { McpRequest } from '../operations/surfaces.ts';
import { Host } from './host.ts';
import type { Shared } from './mcp-server.ts';
import type { AskedState } from './run-call.ts';

/** A person may take a day to answer. */
const ASKED_FOR_S = 86_400;

/** Serves MCP until the client has gone, or for ever. */
export async function serveMcp({ http, cwd, env }: McpRequest): Promise<void> {
  const shared: Shared = {
    host: new Host({ cwd, env }),
    states: createRequestStateCodec<AskedState>({ key: randomBytes(32), ttlSeconds: ASKED_FOR_S }),
    declined: new Map(),
  };
  if (http === null) return (await import('./stdio.ts')).serveByStdio(shared);
  return (await import('./http.ts')).serveByHttp(shared, http);
}
