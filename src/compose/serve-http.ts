import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { lossOf } from '../util/exact-json.ts';
import { ambiguity, bearerToken, isOwnHost, isOwnOrigin, isSameSecret } from '../util/loopback.ts';
import { BodyError, MAX_BODY_MS, readBody } from '../util/request-body.ts';
import { AppError } from './app-error.ts';
import { buildCatalog } from './catalog.ts';
import type { CliApp } from './cli-app.ts';
import { type Envelope, encodeLine, failure } from './envelope.ts';
import { toFailure } from './failure.ts';
import { type Allowed, callTool, type OfferedTool, offeredTools, withCommands } from './offered-tools.ts';
import { readQuery } from './query-input.ts';

const MAX_BODY_BYTES = 1024 * 1024;

/** How a program is served over HTTP. */
export interface HttpOptions {
  /** A free one by default. */
  port?: number;
  /** What callers pass as `Authorization: Bearer`; a random one by default. */
  token?: string;
  /** What they may do at most; by default only read. */
  allow?: Allowed;
}

/** A server that listens. */
export interface HttpServer {
  url: string;
  token: string;
  close(): Promise<void>;
}

/** How long a connection may rest between two requests. */
const KEEP_ALIVE_TIMEOUT_MS = 75_000;

/**
 * Serves the commands of a program over HTTP, on this machine alone: `GET /tools` is the catalog, `POST /items.list` calls a
 * command with a JSON object, and `GET /items.list?owner=Ada` one that only reads. Every answer is the envelope.
 */
export async function serveHttp<C>(
  app: CliApp<C>,
  { port = 0, token = randomBytes(24).toString('base64url'), allow = 'reads' }: HttpOptions = {},
  maxBodyMs = MAX_BODY_MS,
): Promise<HttpServer> {
  checkToken(token);
  checkPort(port);
  const tools = new Map((await offeredTools(app, allow)).map((each) => [each.op.name, each]));
  const server = createServer((request, response) => {
    const gone = new AbortController();
    response.on('close', () => gone.abort());
    answer(app, tools, request, { token, signal: gone.signal, maxBodyMs })
      .then(
        (envelope) => send(response, envelope),
        (thrown: unknown) => refuse(response, app, thrown),
      )
      .catch(() => response.destroy());
  });
  // A client that sends a request while the server closes the connection gets an error: most keep theirs longer than the default of 5 s.
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const { port: listening } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${listening}/`,
    token,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** With an empty token a request without one would be let in. */
function checkToken(token: unknown): void {
  if (typeof token === 'string' && /^\S+$/.test(token)) return;
  throw new AppError('E_USAGE', 'token of serveHttp must be a text that is not empty and has no spaces', {
    hint: 'Give it a value, for example from a variable that is set, or leave it out: serveHttp then makes a random one.',
  });
}

/** A text is the path of a socket to Node, which listens there in place of this machine's port. */
function checkPort(port: unknown): void {
  if (Number.isInteger(port) && Number(port) >= 0 && Number(port) <= 65_535) return;
  throw new AppError(
    'E_USAGE',
    `port of serveHttp must be a whole number from 0 to 65535, not ${JSON.stringify(port)}`,
    {
      hint: 'Give a free port, such as 8080, or leave it out: serveHttp then takes a free one.',
    },
  );
}

/** The status of an answer that is not a failure of a command. */
const STATUS_OF: Readonly<Record<string, number>> = { E_USAGE: 400, E_UNAUTHORIZED: 401, E_NOT_FOUND: 404 };

async function answer<C>(
  app: CliApp<C>,
  tools: ReadonlyMap<string, OfferedTool<C>>,
  request: IncomingMessage,
  { token, signal, maxBodyMs }: { token: string; signal: AbortSignal; maxBodyMs: number },
): Promise<Envelope<string>> {
  admit(request, token);
  const { pathname, search, searchParams } = new URL(request.url ?? '/', 'http://127.0.0.1');
  if (!isDecodable(search))
    throw new AppError('E_USAGE', `the query is not UTF-8: ${search}`, {
      hint: 'Encode each value as UTF-8 with percent signs, as encodeURIComponent does.',
    });
  const name = decoded(pathname.slice(1));
  if (name === 'tools' || name === '') {
    return { ok: true, data: await buildCatalog(app), meta: { tool: 'system.tools', elapsed: 0 } };
  }
  const tool = tools.get(name === 'health' ? 'system.health' : name);
  if (tool === undefined)
    throw new AppError('E_NOT_FOUND', `no command ${JSON.stringify(name)} is offered here`, {
      hint: 'GET /tools lists the commands.',
    });
  const { op } = tool;
  if (request.method === 'GET' && op.effect === 'reads') {
    const { input, selection } = readQuery(op, searchParams);
    return withCommands(app, await callTool(app, op, input, { signal, selection }));
  }
  if (request.method !== 'POST')
    throw new AppError('E_USAGE', `${op.name} ${op.effect}: it takes POST with a JSON object`);
  const { selection } = readQuery(op, searchParams);
  return withCommands(app, await callTool(app, op, await bodyOf(request, maxBodyMs), { signal, selection }));
}

/** A path that is not encoded as UTF-8 names no command. */
function decoded(path: string): string {
  return isDecodable(path) ? decodeURIComponent(path) : path;
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

function admit(request: IncomingMessage, token: string): void {
  const { host, origin, authorization } = request.headers;
  const unclear = ambiguity(request);
  if (unclear !== undefined) throw new AppError('E_USAGE', unclear);
  if (!isOwnHost(host))
    throw new AppError(
      'E_UNAUTHORIZED',
      `the Host header ${JSON.stringify(host ?? '')} does not name this machine`,
      {
        hint: 'Send the host of the address that serveHttp printed or returned, such as 127.0.0.1:8080.',
      },
    );
  if (!isOwnOrigin(origin))
    throw new AppError('E_UNAUTHORIZED', `a page of ${JSON.stringify(origin)} may not use this server`, {
      hint: 'Call this server from a program, or from a page of this machine.',
    });
  if (!isSameSecret(bearerToken(authorization) ?? '', token))
    throw new AppError('E_UNAUTHORIZED', 'the token is missing or wrong', {
      hint: 'Pass it as Authorization: Bearer TOKEN.',
    });
}

async function bodyOf(request: IncomingMessage, maxMs: number): Promise<Record<string, unknown>> {
  // A page of another origin cannot send this type without being asked for its permission.
  if (!/^application\/json\b/i.test(request.headers['content-type'] ?? ''))
    throw new AppError('E_USAGE', 'the body must be application/json');
  const text = await readBody(request, { maxBytes: MAX_BODY_BYTES, maxMs });
  const body = text === '' ? {} : jsonOf(text);
  const loss = body === undefined ? undefined : lossOf(text, body);
  if (loss !== undefined) throw new AppError('E_USAGE', `the body ${loss.mistake}`, { hint: loss.fix });
  if (typeof body === 'object' && body !== null && !Array.isArray(body))
    return body as Record<string, unknown>;
  throw new AppError('E_USAGE', 'the body must be a JSON object');
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refuse<C>(response: ServerResponse, app: CliApp<C>, thrown: unknown): void {
  const ofBody = thrown instanceof BodyError ? thrown : undefined;
  const known = ofBody ? new AppError('E_USAGE', ofBody.message) : thrown;
  const { error } = toFailure(known, app, { signal: new AbortController().signal, showsStack: false });
  // What the client sends later is not the next request.
  if (ofBody?.status === 408) response.setHeader('connection', 'close');
  send(response, failure<string>(error, { tool: app.name, elapsed: 0 }), ofBody?.status);
}

function statusOf(envelope: Envelope<string>): number {
  if (envelope.ok) return 200;
  const { code, retryable } = envelope.error;
  return STATUS_OF[code] ?? (retryable ? 503 : 422);
}

function send(
  response: ServerResponse,
  envelope: Envelope<string>,
  status: number = statusOf(envelope),
): void {
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  });
  response.end(encodeLine(envelope));
}
