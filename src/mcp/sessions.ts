import { type Server, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';

/** With more sessions than this, those without an open request are dropped, the longest idle one first. */
const MAX_SESSIONS = 64;
const EVENT_STREAM = 'text/event-stream';
/** The headers of a stream are sent with its first bytes, and a client waits for them. */
const COMMENT = new TextEncoder().encode(':\n\n');

/** A server for a new session, and how to notify its client of everything that may have changed while it had no stream. */
export interface SessionServer {
  server: Server;
  notifyOfAll(): void;
}

interface Session extends SessionServer {
  transport: WebStandardStreamableHTTPServerTransport;
  /** How many of its requests have no complete response yet. */
  open: number;
  /** Whether it has had a stream of notifications. */
  hasListened: boolean;
}

/**
 * The sessions of clients before 2026-07-28. Such a client cancels and answers questions with separate requests, so its
 * open calls must be found again.
 */
export class Sessions {
  /** Most recently used last. */
  readonly #sessions = new Map<string, Session>();
  readonly #newServer: () => Promise<SessionServer>;
  readonly #maxBodyBytes: number;

  constructor(newServer: () => Promise<SessionServer>, maxBodyBytes: number) {
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
    return request.method === 'GET' ? this.#listen(session, request) : this.#answer(session, request);
  }

  /**
   * The stream of notifications. A new one replaces the last: the server may not know yet that the connection of that is gone. What was sent into it
   * then is lost, so the client is notified of everything.
   */
  async #listen(session: Session, request: Request): Promise<Response> {
    if (acceptsEvents(request)) session.transport.closeStandaloneSSEStream();
    const response = await this.#answer(session, request);
    if (!response.ok) return response;
    if (session.hasListened) session.notifyOfAll();
    session.hasListened = true;
    return response;
  }

  /** Counts the request as open until its response is complete, or its client has gone. */
  async #answer(session: Session, request: Request): Promise<Response> {
    session.open++;
    const onOver = () => {
      session.open--;
      this.#dropIdle();
    };
    const response = await session.transport.handleRequest(request).catch((error) => {
      onOver();
      throw error;
    });
    const isStream = response.headers.get('content-type') === EVENT_STREAM;
    if (response.body !== null)
      return new Response(
        watched(response.body, { onOver, begins: isStream ? COMMENT : undefined }),
        response,
      );
    onOver();
    return response;
  }

  async #begin(request: Request): Promise<Response> {
    const made = await this.#newServer();
    const { server } = made;
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: (id) => this.#keep(id, { ...made, transport, open: 0, hasListened: false }),
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
    this.#dropIdle(session);
  }

  #dropIdle(but?: Session): void {
    for (const [id, session] of this.#sessions) {
      if (this.#sessions.size <= MAX_SESSIONS) return;
      if (session.open > 0 || session === but) continue;
      this.#sessions.delete(id);
      void session.server.close();
    }
  }
}

function acceptsEvents({ headers }: Request): boolean {
  return headers.get('accept')?.includes(EVENT_STREAM) === true;
}

/** A body that reports once when it is read to its end, has failed, or is no longer wanted. */
function watched(
  body: ReadableStream<Uint8Array>,
  { onOver, begins }: { onOver: () => void; begins: Uint8Array | undefined },
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  return new ReadableStream<Uint8Array>({
    start(controller) {
      if (begins !== undefined) controller.enqueue(begins);
    },
    async pull(controller) {
      try {
        const { value, done } = await reader.read();
        if (!done) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      onOver();
    },
    cancel(reason) {
      onOver();
      return reader.cancel(reason);
    },
  });
}
