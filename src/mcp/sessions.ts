import { type Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';

/** With more concurrent clients than this, the session that was idle longest is dropped. */
const MAX_SESSIONS = 64;

interface Session {
  server: Server;
  transport: WebStandardStreamableHTTPServerTransport;
}

/**
 * The sessions of clients before 2026-07-28. Such a client cancels and answers questions with separate requests, so its
 * open calls must be found again.
 */
export class Sessions {
  /** Most recently used last. */
  readonly #sessions = new Map<string, Session>();
  readonly #newServer: () => Promise<Server>;
  readonly #maxBodyBytes: number;

  constructor(newServer: () => Promise<Server>, maxBodyBytes: number) {
    this.#newServer = newServer;
    this.#maxBodyBytes = maxBodyBytes;
  }

  async handle(request: Request): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    if (id === null) return this.#begin(request);
    const session = this.#sessions.get(id);
    if (session === undefined) {
      const error = { code: -32001, message: 'Session not found: begin with initialize' };
      return Response.json({ jsonrpc: '2.0', error, id: null }, { status: 404 });
    }
    this.#sessions.delete(id);
    this.#sessions.set(id, session);
    return session.transport.handleRequest(request);
  }

  async #begin(request: Request): Promise<Response> {
    const server = await this.#newServer();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => this.#keep(id, { server, transport }),
      onsessionclosed: (id) => void this.#sessions.delete(id),
      maxRequestBodySize: this.#maxBodyBytes,
    });
    await server.connect(transport);
    const response = await transport.handleRequest(request);
    // A failed handshake leaves no session.
    if (transport.sessionId === undefined) await server.close();
    return response;
  }

  #keep(id: string, session: Session): void {
    this.#sessions.set(id, session);
    const [oldest] = this.#sessions;
    if (this.#sessions.size <= MAX_SESSIONS || oldest === undefined) return;
    this.#sessions.delete(oldest[0]);
    void oldest[1].server.close();
  }
}
