import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Route } from '../compose/cli-app.ts';
import type { AcorApp, Principal } from '../operations/acor-app.ts';
import { ProjectHost } from '../operations/project-host.ts';
import type { HttpRequest } from '../operations/surfaces.ts';
import { listenOnLoopback } from '../operations/system/listen.ts';
import type { Log } from '../util/log.ts';
import { rateLimit } from '../util/rate-limit.ts';
import { MAX_BODY_MS } from '../util/request-body.ts';
import { userName } from '../util/users.ts';
import { sendArtifact } from './artifact-route.ts';
import { callByHttp, offeredRoutes } from './call-route.ts';
import { ChangeStream } from './change-stream.ts';
import { checkQuery } from './check-query.ts';
import { sendEvents } from './events-route.ts';
import type { Exchange } from './exchange.ts';
import { admitted, Gate } from './gate.ts';
import { HttpError } from './http-error.ts';
import { OPERATIONS_PATH } from './next-requests.ts';
import { openApiText } from './openapi.ts';
import { RepeatedCalls } from './repeated-calls.ts';
import { envelopeOf, sendEnvelope, sendText, setSecurityHeaders } from './reply.ts';

/** Enough for a thousand clients that load their pages at once, and too little to keep the machine busy. */
const REQUESTS = { perSecond: 200, burst: 2000 };
const NOT_ALLOWED = 'this server was started without --http-allow for it';

/** Serves the HTTP API and the dashboard on the loopback interface, without end. It only ends when it cannot listen. */
export async function serveHttp(request: HttpRequest): Promise<never> {
  const { cwd, env, clients, mayCall } = request;
  const host = new ProjectHost({
    cwd,
    env,
    surface: 'http',
    authorize: (_, operation) =>
      mayCall(operation)
        ? { allowed: true }
        : {
            allowed: false,
            why: NOT_ALLOWED,
            hint: 'Run it at a terminal, or ask for a server that allows it.',
          },
  });
  let port = request.port;
  const gate = new Gate(clients, () => port);
  // The server looks at the runs for the user who started it.
  const owner: Principal = { kind: 'local-user', name: userName() };
  const changes = new ChangeStream(host, owner);
  const site = new Site({ host, gate, changes, maxBodyMs: MAX_BODY_MS });
  const server = createServer((req, res) => void site.serve(req, res));
  port = await listenOnLoopback(server, request.port);
  await changes.watch();
  const [{ deliverForever }, { runSchedules }] = await Promise.all([
    import('../operations/run/deliver-forever.ts'),
    import('../operations/schedule/run-schedules.ts'),
  ]);
  // They catch what a receiver, a tool or the store does; only the end of this process ends them.
  const { signal } = new AbortController();
  void deliverForever(() => host.openFor(owner).app, env, signal);
  void runSchedules(host, { owner, env, signal });
  if (env['ACOR_LOG']) {
    const { openLog } = await import('../util/log.ts');
    const log = openLog(env['ACOR_LOG']);
    log('info', 'listening', { port });
    server.on('request', (req, res) => logRequest(log, req, res));
  }
  request.onListening({ port, code: gate.sessions.newCode(request.isAtTerminal ? 'person' : 'anybody') });
  return new Promise<never>(() => {});
}

interface SiteParts {
  host: ProjectHost;
  gate: Gate;
  changes: ChangeStream;
  maxBodyMs: number;
}

interface SiteRequest extends Pick<Exchange, 'req' | 'res' | 'url'> {
  caller: Principal | undefined;
}

/** What is served, by its address. */
export class Site {
  readonly #parts: SiteParts;
  readonly #routes: ReadonlyMap<string, Route<AcorApp>>;
  readonly #repeated = new RepeatedCalls();
  readonly #limit = rateLimit(REQUESTS);
  /** Of requests without a valid token or session: other users of the machine cannot use up what the clients have. */
  readonly #limitOfUnknown = rateLimit(REQUESTS);

  constructor(parts: SiteParts) {
    this.#parts = parts;
    this.#routes = offeredRoutes(parts.host.cli.routes);
  }

  /** Never throws. */
  async serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    setSecurityHeaders(res);
    try {
      // In this order: a malicious web page learns nothing, whatever it sends.
      this.#parts.gate.checkPlace(req);
      const caller = this.#parts.gate.callerOf(req);
      const limit = caller === undefined ? this.#limitOfUnknown : this.#limit;
      if (!limit.tryRemoveTokens(1)) throw tooMany();
      await this.#route({ req, res, url: new URL(req.url ?? '/', 'http://localhost'), caller });
    } catch (thrown) {
      if (res.headersSent) res.destroy();
      else this.#refuse(res, thrown);
    }
  }

  async #route(request: SiteRequest): Promise<void> {
    const { req, res, url } = request;
    const { pathname } = url;
    if (pathname === '/healthz') return sendText(res, 200, 'application/json', '{"status":"ok"}\n');
    if (pathname !== '/metrics' && pathname !== '/openapi.json' && !pathname.startsWith(OPERATIONS_PATH)) {
      onlyGet(req, res);
      const { sendAsset } = await import('./assets.ts');
      return sendAsset(res, url, this.#parts.gate.sessions);
    }
    const exchange = this.#exchange(request);
    if (pathname === '/metrics') return this.#sendMetrics(exchange);
    if (pathname === '/openapi.json') {
      onlyGet(req, res);
      checkQuery(url.searchParams, { version: { pattern: /./, rule: 'a version of OpenAPI' } });
      return sendText(res, 200, 'application/json', await openApiText(this.#routes, url.searchParams));
    }
    return this.#routeApi(exchange, pathname.slice(OPERATIONS_PATH.length).split('/'));
  }

  async #routeApi(exchange: Exchange, parts: readonly string[]): Promise<void> {
    const { req, res, url } = exchange;
    const route = parts.length === 1 ? this.#routes.get(parts[0]!) : undefined;
    if (route !== undefined) return this.#call(exchange, route);
    const answer = this.#streamAt(exchange, parts);
    if (answer === undefined) throw nothingAt(url.pathname);
    onlyGet(req, res);
    return answer();
  }

  #call(exchange: Exchange, route: Route<AcorApp>): Promise<void> {
    return callByHttp(exchange, route, { repeated: this.#repeated, maxBodyMs: this.#parts.maxBodyMs });
  }

  /** Sends what is no envelope; undefined for another address. */
  #streamAt(exchange: Exchange, [first, run, what, name, ...more]: readonly string[]) {
    const { req, res, url, open } = exchange;
    if (first === 'stream' && run === undefined) {
      checkQuery(url.searchParams, { cursor: { pattern: /./, rule: 'the id of a message' } });
      const cursor = req.headers['last-event-id'] ?? url.searchParams.get('cursor') ?? undefined;
      return () =>
        this.#parts.changes.add(res, open.app.principal, cursor === undefined ? undefined : String(cursor));
    }
    if (first !== 'runs' || run === undefined || more.length > 0) return undefined;
    if (what === 'events' && name === undefined) return () => sendEvents(exchange, run);
    if (what === 'artifacts' && /^\d+$/.test(name ?? '')) {
      checkQuery(url.searchParams, {});
      return () => sendArtifact(exchange, run, name!);
    }
    return undefined;
  }

  #exchange({ caller, ...request }: SiteRequest): Exchange {
    const { host } = this.#parts;
    const principal = admitted(request.req, caller);
    const left = new AbortController();
    request.res.once('close', () => left.abort());
    return {
      ...request,
      host,
      open: host.openFor(principal, traceOf(request.req)),
      signal: left.signal,
    };
  }

  async #sendMetrics({ res, req, url, open, signal }: Exchange): Promise<void> {
    onlyGet(req, res);
    checkQuery(url.searchParams, {});
    let text = '';
    const envelope = await open.call(
      'system.metrics',
      {},
      {
        signal,
        onDocument: (document) => {
          text = document;
        },
      },
    );
    if (!envelope.ok) return sendEnvelope(res, { ...envelope, meta: { ...envelope.meta, next: undefined } });
    sendText(res, 200, 'text/plain; version=0.0.4; charset=utf-8', text);
  }

  #refuse(res: ServerResponse, thrown: unknown): void {
    const status = thrown instanceof HttpError ? thrown.status : undefined;
    sendEnvelope(res, envelopeOf(this.#parts.host, thrown), status);
  }
}

/** Without the query, which may hold the code of a link, and without the body. */
function logRequest(log: Log, { method, url = '' }: IncomingMessage, res: ServerResponse): void {
  const begun = performance.now();
  const path = url.split('?', 1)[0];
  res.on('close', () => {
    const status = res.statusCode;
    const level = status >= 500 ? 'error' : status >= 400 ? 'warn' : 'debug';
    log(level, 'request', { method, path, status, ms: Math.round(performance.now() - begun) });
  });
}

/** The trace of the request, which its runs join. */
function traceOf({ headers: { traceparent, tracestate } }: IncomingMessage): Record<string, string> {
  if (typeof traceparent !== 'string') return {};
  return { TRACEPARENT: traceparent, TRACESTATE: typeof tracestate === 'string' ? tracestate : '' };
}

function onlyGet({ method }: IncomingMessage, res: ServerResponse): void {
  if (method === 'GET' || method === 'HEAD') return;
  res.setHeader('Allow', 'GET, HEAD');
  throw new HttpError(405, 'E_USAGE', `${method} is not possible here`, { hint: 'Use GET.' });
}

function nothingAt(path: string): HttpError {
  return new HttpError(404, 'E_USAGE', `there is nothing at ${path}`, {
    hint: 'GET /openapi.json lists what there is.',
  });
}

function tooMany(): HttpError {
  return new HttpError(429, 'E_RATE_LIMIT', 'too many requests', { hint: 'Wait a second, then repeat it.' });
}
