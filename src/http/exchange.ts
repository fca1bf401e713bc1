import type { IncomingMessage, ServerResponse } from 'node:http';
import type { OpenHost, ProjectHost } from '../operations/project-host.ts';

/** One request of a client that may enter, and its response. */
export interface Exchange {
  req: IncomingMessage;
  res: ServerResponse;
  url: URL;
  host: ProjectHost;
  /** The project, for the principal of the request. */
  open: OpenHost;
  /** Aborts when the client is gone. */
  signal: AbortSignal;
}
