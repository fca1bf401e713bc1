import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Envelope, escapeForTerminal, failure } from '../compose/envelope.ts';
import { toFailure } from '../compose/failure.ts';
import { asAppError } from '../operations/define.ts';
import type { ProjectHost } from '../operations/project-host.ts';
import { AcorError } from '../protocol/acor-error.ts';
import { statusOf } from './http-error.ts';
import type { NextRequest } from './next-requests.ts';

/** A page runs this server's own files and nothing else; no answer is ever a page of its own, or a part of another one. */
const SECURITY_HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

export function setSecurityHeaders(res: ServerResponse): void {
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) res.setHeader(name, value);
}

/** Sends an envelope with the status of its error. */
export function sendEnvelope(
  res: ServerResponse,
  envelope: Envelope<NextRequest>,
  status = envelope.ok ? 200 : statusOf(envelope.error),
): void {
  if (status === 401) res.setHeader('WWW-Authenticate', 'Bearer');
  // What the client sends later is not the next request.
  if (status === 408) res.setHeader('Connection', 'close');
  res.setHeader('Cache-Control', 'no-store');
  sendText(res, status, 'application/json', `${lineOf(envelope)}\n`);
}

/** The envelope of what was thrown outside of an operation, or while its stream was sent. */
export function envelopeOf({ cli }: ProjectHost, thrown: unknown): Envelope<NextRequest> {
  const error = thrown instanceof AcorError ? asAppError(thrown) : thrown;
  const never = new AbortController().signal;
  const problem = toFailure(error, cli, { signal: never, showsStack: false });
  return failure(problem.error, { tool: 'acor', elapsed: 0 });
}

/** An envelope on one line, as answers and streams have it. */
export function lineOf(envelope: Envelope<NextRequest>): string {
  return escapeForTerminal(JSON.stringify(envelope));
}

/** The last message of a stream of server-sent events that the server ends: its data are an envelope. */
export function failureMessage(host: ProjectHost, thrown: unknown): string {
  return `event: failure\ndata: ${lineOf(envelopeOf(host, thrown))}\n\n`;
}

/** Sends the answer of a GET, or 304 when the client has it already: only the duration of the call differs. */
export function sendCached(req: IncomingMessage, res: ServerResponse, envelope: Envelope<NextRequest>): void {
  const { elapsed: _, ...meta } = envelope.meta;
  const same = JSON.stringify([envelope.ok ? envelope.data : envelope.error, meta]);
  const tag = `"${createHash('sha256').update(same).digest('base64url')}"`;
  const isKnown = req.headers['if-none-match']?.split(/, */).includes(tag) ?? false;
  if (envelope.ok) res.setHeader('ETag', tag);
  if (envelope.ok && isKnown) res.writeHead(304).end();
  else sendEnvelope(res, envelope);
}

export function sendText(
  res: ServerResponse,
  status: number,
  mediaType: string,
  text: string | Buffer,
): void {
  const bytes = Buffer.from(text);
  res.writeHead(status, { 'Content-Type': mediaType, 'Content-Length': bytes.length });
  res.end(res.req.method === 'HEAD' ? undefined : bytes);
}

/** Writes to a response at the speed of its reader. False when the reader is gone. */
export async function writeTo(res: ServerResponse, bytes: Uint8Array | string): Promise<boolean> {
  if (res.destroyed) return false;
  if (res.write(bytes)) return true;
  await new Promise<void>((resolve) => {
    const done = () => {
      res.off('drain', done).off('close', done);
      resolve();
    };
    res.on('drain', done).on('close', done);
  });
  return !res.destroyed;
}
