import { safeLine } from '../compose/terminal-text.ts';
import type { Authorize } from '../operations/acor-app.ts';
import { type OpenHost, ProjectHost } from '../operations/project-host.ts';
import { agentOf } from '../util/audience.ts';

export type { OpenHost } from '../operations/project-host.ts';

/** The caller: the client's capabilities, and the trace of its call. */
export interface Caller {
  name: string | undefined;
  traceparent: string | undefined;
  tracestate?: string | undefined;
}

const MAX_NAME_CHARS = 100;

/** The project of an MCP server, whose clients are agents. */
export class Host extends ProjectHost {
  constructor(options: {
    cwd: string;
    env: Readonly<Record<string, string | undefined>>;
    authorize?: Authorize;
  }) {
    super({ ...options, surface: 'mcp' });
  }

  /** The project for one request of a caller. */
  open({ name, traceparent, tracestate = '' }: Caller): OpenHost {
    const env = {
      ...(name !== undefined && { AI_AGENT: safeLine(name).slice(0, MAX_NAME_CHARS) }),
      ...(traceparent !== undefined && { TRACEPARENT: traceparent, TRACESTATE: tracestate }),
    };
    const agent = agentOf({ ...this.env, ...env }) ?? 'mcp client';
    return this.openFor({ kind: 'agent', name: agent }, env);
  }
}
