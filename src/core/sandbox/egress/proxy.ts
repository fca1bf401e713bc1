import type { Socket } from 'node:net';
import { remedySentence } from '../../policy/explain-denial.ts';
import { toAllow } from './connection-log.ts';
import type { WayOut } from './egress-route.ts';
import { type Host, nameOf, readHostAndPort, withPort } from './host.ts';
import {
  type Head,
  headText,
  isSameAuthority,
  listed,
  readAuthority,
  readRequestHead,
  valuesOf,
} from './http-head.ts';

const MAX_HEAD_BYTES = 16 * 1024;
const HEAD_TIMEOUT_MS = 10_000;
const HTTP_PORT = 80;
const END_OF_HEAD = '\r\n\r\n';

/**
 * One connection to the proxy of HTTP_PROXY and HTTPS_PROXY: a tunnel, or one forwarded request. All further bytes go
 * to the same host.
 */
export function answerProxy(inner: Socket, way: WayOut): void {
  let head = Buffer.alloc(0);
  const timer = setTimeout(() => refuse(408, 'the request was incomplete'), HEAD_TIMEOUT_MS);
  inner.once('close', () => clearTimeout(timer));
  inner.on('data', onData);
  inner.resume();

  function onData(chunk: Buffer): void {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf(END_OF_HEAD);
    const isFull = (end === -1 ? head.length : end) > MAX_HEAD_BYTES;
    if (end === -1 && !isFull) return;
    clearTimeout(timer);
    inner.off('data', onData);
    inner.pause();
    if (isFull) {
      refuse(431, `its head has more than ${MAX_HEAD_BYTES} bytes`);
      return;
    }
    const request = readProxyRequest(head.toString('latin1', 0, end));
    if (typeof request === 'string') refuse(400, request);
    else void serve(request, head.subarray(end + END_OF_HEAD.length));
  }

  async function serve(request: ProxyRequest, rest: Buffer): Promise<void> {
    const { host, port } = request;
    const isAllowed = await way.allows(host, port);
    if (inner.destroyed) return;
    if (!isAllowed) {
      const allow = toAllow(way.plan, host, port);
      way.journal.denied({ host: nameOf(host), port, why: 'it is not in egress_allow', allow });
      answer(403, `${withPort(nameOf(host), port)} is not allowed. ${remedySentence(allow)}`);
      return;
    }
    if (way.endsTls(host, port)) {
      if (request.kind === 'forward')
        answer(403, `${withPort(nameOf(host), port)} is reached by https:// only`);
      // A client waits for the answer before it begins with TLS.
      else if (rest.length > 0) refuse(400, 'bytes follow its head');
      else {
        inner.write('HTTP/1.1 200 Connection established\r\n\r\n');
        way.serveTls(inner, host, port);
      }
      return;
    }
    const reached = await way.reach(host, port);
    switch (reached.kind) {
      case 'refused':
        return answer(403, `${withPort(nameOf(host), port)}: ${reached.refusal.why}`);
      case 'failed':
        return answer(502, `${withPort(nameOf(host), port)} could not be reached: ${reached.why}`);
      case 'connected': {
        if (request.kind === 'tunnel') inner.write('HTTP/1.1 200 Connection established\r\n\r\n');
        else reached.outer.write(request.head, 'latin1');
        if (rest.length > 0) reached.outer.write(rest);
        reached.count.sent_bytes += rest.length;
        way.carry(inner, reached);
      }
    }
  }

  function refuse(status: number, why: string): void {
    way.journal.denied({
      host: 'proxy',
      port: null,
      why: `the proxy rejected an invalid request: ${why}`,
    });
    answer(status, why);
  }

  function answer(status: number, text: string): void {
    const body = `${text}\n`;
    const head = [
      `HTTP/1.1 ${status} ${REASONS[status]}`,
      'Content-Type: text/plain; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      'Connection: close',
    ];
    inner.end(`${head.join('\r\n')}\r\n\r\n${body}`);
    // Drain the client's remaining data; unread data would reset the connection before the client reads the answer.
    inner.resume();
    inner.setTimeout(HEAD_TIMEOUT_MS, () => inner.destroy());
  }
}

const REASONS: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  403: 'Forbidden',
  408: 'Request Timeout',
  431: 'Request Header Fields Too Large',
  502: 'Bad Gateway',
};

/** A client's request to the proxy: a tunnel, or one forwarded request with the head for the host. */
type ProxyRequest =
  | { kind: 'tunnel'; host: Host; port: number }
  | { kind: 'forward'; host: Host; port: number; head: string };

/** Hop-by-hop headers. */
const HOP_BY_HOP = ['connection', 'proxy-connection', 'proxy-authorization', 'keep-alive', 'te', 'upgrade'];

/** Parses the head of a request, as `readRequestHead` does. Returns a message for an invalid one. */
export function readProxyRequest(text: string): ProxyRequest | string {
  const head = readRequestHead(text);
  if (typeof head === 'string') return head;
  const [method, target] = head.first;
  if (method !== 'CONNECT') return readForward(head);
  const where = readHostAndPort(target);
  return where === undefined ? 'CONNECT names no host:port' : { kind: 'tunnel', ...where };
}

function readForward({ first: [method, target, version], fields }: Head): ProxyRequest | string {
  const [, authority, path] = /^http:\/\/([^/?#]+)([/?][^#]*)?$/i.exec(target) ?? [];
  if (authority === undefined) return 'its target is not an http:// address; for https:// use CONNECT';
  const where = readAuthority(authority, HTTP_PORT);
  if (where === undefined) return 'it has no host';
  const hosts = valuesOf(fields, 'host');
  const isSame = hosts.every((text) => isSameAuthority(readAuthority(text, HTTP_PORT), where));
  if (hosts.length > 1 || !isSame) return 'its Host header differs from its address';
  // Two lengths enable request smuggling.
  const lengths = [...valuesOf(fields, 'content-length'), ...valuesOf(fields, 'transfer-encoding')];
  if (lengths.length > 1) return 'it has more than one length header';
  const dropped = [...HOP_BY_HOP, 'host', ...valuesOf(fields, 'connection').flatMap(listed)];
  const kept = fields.filter(([name]) => !dropped.includes(name.toLowerCase()));
  const { host, port } = where;
  const name = port === HTTP_PORT ? withPort(nameOf(host), '').slice(0, -1) : withPort(nameOf(host), port);
  const start = `${method} ${path === undefined || path.startsWith('?') ? `/${path ?? ''}` : path} ${version}`;
  const head = headText(start, [['Host', name], ...kept, ['Connection', 'close']]);
  return { kind: 'forward', ...where, head };
}
