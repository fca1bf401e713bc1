import { type Host, nameOf, readHostAndPort, withPort } from './host.ts';

/** A client's request to the proxy: a tunnel, or one forwarded request with the head for the host. */
export type ProxyRequest =
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
