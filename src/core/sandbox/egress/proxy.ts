import type { Socket } from 'node:net';
import { remedySentence } from '../../policy/explain-denial.ts';
import { toAllow } from './connection-log.ts';
import type { WayOut } from './egress-route.ts';
import { covers, type Host, nameOf, readHostAndPort, withPort } from './host.ts';

const MAX_HEAD_BYTES = 16 * 1024;
const HEAD_TIMEOUT_MS = 10_000;
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
    if (!way.plan.rules.some((rule) => covers(rule, host, port))) {
      const allow = toAllow(way.plan, host, port);
      way.journal.denied({ host: nameOf(host), port, why: 'it is not in egress_allow', allow });
      answer(403, `${withPort(nameOf(host), port)} is not allowed. ${remedySentence(allow)}`);
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

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Hop-by-hop headers. */
const HOP_BY_HOP = ['connection', 'proxy-connection', 'proxy-authorization', 'keep-alive', 'te', 'upgrade'];

/**
 * Parses the head of a request without its last empty line, one character per byte. Returns a message for an invalid
 * head. It is strict, because a head that a server reads differently could reach the wrong host.
 */
export function readProxyRequest(head: string): ProxyRequest | string {
  if (/[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/.test(head)) return 'it contains control characters';
  const lines = head.split('\r\n');
  if (lines.some((line) => /[\r\n]/.test(line))) return 'its lines do not end with CRLF';
  const [first = '', ...rest] = lines;
  const [, method, target, version] = /^(\S+) ([!-~]+) (HTTP\/1\.[01])$/.exec(first) ?? [];
  if (method === undefined || !TOKEN.test(method)) return 'its first line is not an HTTP/1 request';
  const fields = rest.map(readField);
  if (fields.some(([name]) => !TOKEN.test(name))) return 'a header is malformed';
  if (method === 'CONNECT') {
    const where = readHostAndPort(target!);
    return where === undefined ? 'CONNECT names no host:port' : { kind: 'tunnel', ...where };
  }
  return readForward(`${method}`, target!, version!, fields);
}

/** The name and the value of a header line; the name is empty when it has none. The value is trimmed by hand, in time linear in its length. */
function readField(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  let [from, to] = [colon + 1, line.length];
  while (isSpace(line[from])) from++;
  while (to > from && isSpace(line[to - 1])) to--;
  return [line.slice(0, Math.max(0, colon)), line.slice(from, to)];
}

/** What may surround the value of a header (RFC 9110 §5.6.3). */
function isSpace(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}

function readForward(
  method: string,
  target: string,
  version: string,
  fields: readonly (readonly [name: string, value: string])[],
): ProxyRequest | string {
  const [, authority, path] = /^http:\/\/([^/?#]+)([/?][^#]*)?$/i.exec(target) ?? [];
  if (authority === undefined) return 'its target is not an http:// address; for https:// use CONNECT';
  const where = readAuthority(authority);
  if (where === undefined) return 'it has no host';
  const values = (name: string) =>
    fields.filter(([each]) => each.toLowerCase() === name).map(([, value]) => value);
  const hosts = values('host');
  const isSame = hosts.every((text) => sameAs(readAuthority(text), where));
  if (hosts.length > 1 || !isSame) return 'its Host header differs from its address';
  // Two lengths enable request smuggling.
  const lengths = [...values('content-length'), ...values('transfer-encoding')];
  if (lengths.length > 1) return 'it has more than one length header';
  const dropped = [...HOP_BY_HOP, 'host', ...values('connection').flatMap(listed)];
  const kept = fields.filter(([name]) => !dropped.includes(name.toLowerCase()));
  const { host, port } = where;
  const name = port === 80 ? withPort(nameOf(host), '').slice(0, -1) : withPort(nameOf(host), port);
  const start = `${method} ${path === undefined || path.startsWith('?') ? `/${path ?? ''}` : path} ${version}`;
  const all = [['Host', name] as const, ...kept, ['Connection', 'close'] as const];
  const head = `${start}\r\n${all.map(([each, value]) => `${each}: ${value}\r\n`).join('')}\r\n`;
  return { kind: 'forward', ...where, head };
}

function readAuthority(text: string): { host: Host; port: number } | undefined {
  return readHostAndPort(/:\d+$/.test(text) && !/^\[[^\]]*$/.test(text) ? text : `${text}:80`);
}

function sameAs(a: { host: Host; port: number } | undefined, b: { host: Host; port: number }): boolean {
  return a !== undefined && nameOf(a.host) === nameOf(b.host) && a.port === b.port;
}

function listed(value: string): string[] {
  return value.split(',').map((each) => each.trim().toLowerCase());
}
