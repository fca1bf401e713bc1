import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type ClientCapabilities,
  type Implementation,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Caller } from './host.ts';

/** The extension for calls that outlive their request. */
export const TASKS = 'io.modelcontextprotocol/tasks';

/** The capabilities of a client, from one request or from its handshake. */
export interface Client extends Caller {
  /** It can show a form to its user. */
  elicits: boolean;
  /** It lets servers ask its model. */
  samples: boolean;
  /** It names the folders that it works in. */
  hasRoots: boolean;
  /** It is asked by the result of its call, since 2026-07-28; before that by requests during the call. */
  isAskedByResult: boolean;
  /** It accepts a task instead of a result, since 2026-07-28. */
  takesTasks: boolean;
}

interface Envelope {
  [CLIENT_INFO_META_KEY]?: Implementation;
  [CLIENT_CAPABILITIES_META_KEY]?: ClientCapabilities;
}

/** Identifies the client: since 2026-07-28 from each request, before that from the handshake. */
export function clientOf(server: Server, { mcpReq }: ServerContext): Client {
  const { _meta } = mcpReq;
  const envelope: Envelope | undefined = mcpReq.envelope;
  const info = envelope?.[CLIENT_INFO_META_KEY] ?? server.getClientVersion();
  const capabilities = envelope?.[CLIENT_CAPABILITIES_META_KEY] ?? server.getClientCapabilities();
  const elicitation = capabilities?.elicitation;
  const metaText = (key: string) => (typeof _meta?.[key] === 'string' ? _meta[key] : undefined);
  return {
    name: info?.name,
    traceparent: metaText('traceparent'),
    tracestate: metaText('tracestate'),
    // The default mode is forms.
    elicits: elicitation !== undefined && ('form' in elicitation || !('url' in elicitation)),
    samples: capabilities?.sampling !== undefined,
    hasRoots: capabilities?.roots !== undefined,
    isAskedByResult: envelope !== undefined,
    takesTasks: envelope !== undefined && capabilities?.extensions?.[TASKS] !== undefined,
  };
}
