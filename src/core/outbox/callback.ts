import { request } from 'node:http';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { errorCode } from '../../util/error-code.ts';
import { dial } from '../sandbox/egress/connect.ts';
import { type EgressPlan, type EgressSettings, planEgress } from '../sandbox/egress/egress-plan.ts';
import { covers, type EgressRule, nameOf, readHost, readRule } from '../sandbox/egress/host.ts';
import { trustedRoots } from '../sandbox/egress/tls/roots.ts';

const TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 8192;
const HTTPS_PORT = 443;

/** Why a callback did not take a message. It is all that a client learns, so that it cannot read what other addresses answer. */
export type CallbackProblem =
  | 'connection_refused'
  | 'timeout'
  | 'tls_error'
  | 'http_4xx'
  | 'http_5xx'
  | 'challenge_failed';

export class CallbackError extends Error {
  readonly problem: CallbackProblem;
  /** The receiver does not want this message at all. */
  readonly isFinal: boolean;

  constructor(problem: CallbackProblem, { isFinal = false } = {}) {
    super(problem);
    this.problem = problem;
    this.isFinal = isFinal;
  }
}

/** The part of the configuration that says where callbacks may be. */
export interface CallbackSettings extends EgressSettings {
  webhook_hosts: readonly string[];
}

/** The callbacks that a configuration allows: HTTPS, to the named hosts, at addresses that are public or opened. */
export class Callbacks {
  readonly #plan: EgressPlan;
  readonly #hosts: readonly EgressRule[];
  readonly #roots: string;

  constructor(settings: CallbackSettings) {
    this.#plan = planEgress('', [], settings);
    this.#hosts = settings.webhook_hosts.flatMap((text) => readRule(text) ?? []);
    const { system, further } = trustedRoots(this.#plan.authorities);
    this.#roots = `${system}\n${further}`;
  }

  /** What is wrong with the address of a callback; undefined for one that is allowed. */
  problemOf(text: string): { kind: 'invalid' | 'refused'; message: string } | undefined {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url?.protocol !== 'https:') return { kind: 'invalid', message: 'the callback is no https address' };
    if (url.username !== '' || url.password !== '' || url.hash !== '')
      return { kind: 'invalid', message: 'the callback has a user name, a password or a fragment' };
    const host = readHost(url.hostname);
    if (host !== undefined && this.#hosts.some((rule) => covers(rule, host, portOf(url)))) return undefined;
    const message = `security.webhook_hosts in the configuration does not name ${url.hostname}:${portOf(url)}`;
    return { kind: 'refused', message };
  }

  /**
   * Sends a message by POST, and returns what the receiver answered. The name is resolved once, the address is checked and then dialled, so that
   * another answer of the DNS has no effect. A redirect is a failure: it could lead elsewhere. Throws CallbackError.
   */
  async post(text: string, body: string, headers: Readonly<Record<string, string>>): Promise<string> {
    if (this.problemOf(text) !== undefined) throw new CallbackError('connection_refused');
    const url = new URL(text);
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const host = readHost(url.hostname)!;
    const dialled = await dial(this.#plan, host, portOf(url), { signal });
    if (dialled.kind !== 'connected')
      throw new CallbackError(
        dialled.kind === 'failed' && dialled.why === 'ETIMEDOUT' ? 'timeout' : 'connection_refused',
      );
    const socket = await secured(dialled.socket, {
      ca: this.#roots,
      host: nameOf(host),
      isName: host.kind === 'name',
      signal,
    });
    try {
      return await answerOf(socket, url, body, headers, signal);
    } catch (error) {
      if (error instanceof CallbackError) throw error;
      throw new CallbackError(signal.aborted ? 'timeout' : 'connection_refused');
    } finally {
      socket.destroy();
    }
  }
}

function portOf({ port }: URL): number {
  return port === '' ? HTTPS_PORT : Number(port);
}

function secured(
  socket: Socket,
  { ca, host, isName, signal }: { ca: string; host: string; isName: boolean; signal: AbortSignal },
): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      socket.destroy();
      const isReset = errorCode(error) === 'ECONNRESET';
      reject(new CallbackError(signal.aborted ? 'timeout' : isReset ? 'connection_refused' : 'tls_error'));
    };
    // Whatever NODE_TLS_REJECT_UNAUTHORIZED says.
    const tls = connectTls({
      socket,
      ca,
      host,
      ...(isName && { servername: host }),
      rejectUnauthorized: true,
    });
    const onAbort = () => fail(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    tls.once('error', fail);
    tls.once('secureConnect', () => {
      signal.removeEventListener('abort', onAbort);
      tls.off('error', fail);
      if (tls.authorized) resolve(tls);
      else fail(tls.authorizationError);
    });
  });
}

function answerOf(
  socket: Socket,
  url: URL,
  body: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        method: 'POST',
        path: `${url.pathname}${url.search}`,
        signal,
        headers: {
          Host: url.host,
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(body),
          Connection: 'close',
          ...headers,
        },
        createConnection: () => socket,
      },
      (response) => {
        const { statusCode = 0 } = response;
        if (statusCode < 200 || statusCode >= 300) {
          const isFinal = statusCode === 410 || statusCode === 413;
          return reject(new CallbackError(statusCode >= 500 ? 'http_5xx' : 'http_4xx', { isFinal }));
        }
        let text = '';
        response.setEncoding('utf8').on('error', reject);
        response.on('data', (chunk: string) => {
          text += chunk;
          if (text.length > MAX_ANSWER_BYTES) resolve(text.slice(0, MAX_ANSWER_BYTES));
        });
        response.on('end', () => resolve(text));
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });
}
