import { type Remedy, requestRemedy } from '../../../policy/explain-denial.ts';
import { type Host, nameOf, withPort } from '../host.ts';
import {
  type Field,
  headText,
  isSameAuthority,
  listed,
  readAuthority,
  readRequestHead,
  valuesOf,
} from '../http-head.ts';
import { MalformedMessage } from './byte-reader.ts';
import { type Framing, framingField, framingOf } from './message-body.ts';
import { chooseRule, spelledName, type UsedRule } from './request-rules.ts';

const HTTPS_PORT = 443;
/** Of a path in a message. */
const MAX_SHOWN = 200;

/** A header that the gateway sets, whatever the tool has put there. */
export interface InjectedHeader {
  name: string;
  value: string;
}

/** A host whose TLS ends in the gateway. */
export interface EndedHost {
  host: Host;
  port: number;
  headers: readonly InjectedHeader[];
  /** A request must be allowed by one of them; without rules every request is allowed. */
  rules: readonly UsedRule[];
  /** Other hosts have rules, and this one may be another name of their server. */
  isBesideRules?: boolean;
}

/** A request of the tool, and its head as the host gets it. */
export interface EndedRequest {
  method: string;
  head: string;
  framing: Framing;
  /** It asks for a WebSocket. */
  isUpgrade: boolean;
  /** The host must end its connection after it: a host that does not read the body would read it as the next request. */
  isAlone: boolean;
  /** The rule that allows it, whose bytes count. */
  rule: UsedRule | undefined;
  /** The tool sends no further request on this connection. */
  isLast: boolean;
}

/** Why a request is refused, and the status of the answer. */
export interface RefusedRequest {
  status: number;
  why: string;
  /** The rule that would allow it. */
  allow?: Remedy;
}

/** Headers that concern one connection only, and those that the gateway writes itself. */
const REPLACED = [
  ...['connection', 'keep-alive', 'te', 'trailer', 'upgrade', 'host', 'content-length', 'transfer-encoding'],
  ...['proxy-connection', 'proxy-authorization', 'proxy-authenticate'],
  // In an answer that is compressed an echo of the secret would not be found.
  ...['accept-encoding', 'sec-websocket-extensions'],
];

/** An echo of a secret in parts would not be found either. Rules alone put no secret in. */
const IN_PARTS = ['range', 'if-range'];

/** Reads a request's head and writes the one for the host: the same request, with the headers of the secrets. */
export function readEndedRequest(text: string, to: EndedHost): EndedRequest | RefusedRequest {
  const head = readRequestHead(text);
  if (typeof head === 'string') return { status: 400, why: head };
  const [method, target, version] = head.first;
  const { fields } = head;
  if (version !== 'HTTP/1.1') return { status: 505, why: 'it is not HTTP/1.1' };
  // TRACE is answered with the request itself, secret included.
  if (method === 'CONNECT' || method === 'TRACE') return { status: 405, why: `${method} is not allowed` };
  if (!target.startsWith('/') && target !== '*') return { status: 400, why: 'its target is not a path' };
  const hosts = valuesOf(fields, 'host');
  if (hosts.length !== 1 || !isSameAuthority(readAuthority(hosts[0]!, HTTPS_PORT), to))
    return { status: 421, why: 'its Host header does not name the host of the connection' };
  let framing: Framing;
  try {
    framing = framingOf(fields, 'none');
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error;
    return { status: 400, why: error.message };
  }
  const chosen = chooseRule(to.rules, { method, target, fields });
  if ('why' in chosen) {
    const { why, path } = chosen;
    const asked = `${method} ${target.split('?', 1)[0]!.slice(0, MAX_SHOWN)}`;
    const allow = path === undefined ? {} : { allow: requestRemedy(hostField(to), method, path) };
    return { status: 403, why: `${asked} is not allowed: ${why}`, ...allow };
  }
  const isAlone = (to.rules.length > 0 || to.isBesideRules === true) && framing.kind !== 'none';
  if (isAlone && (method === 'GET' || method === 'HEAD'))
    return { status: 400, why: `its body could be read as another request, as ${method} has none` };
  const connection = valuesOf(fields, 'connection').flatMap(listed);
  const isUpgrade = method === 'GET' && framing.kind === 'none' && asksForWebSocket(fields, connection);
  const sent: Field[] = [
    ['Host', hostField(to)],
    ...fields.filter(([name]) => !isReplaced(name, connection, to)),
    ['Accept-Encoding', 'identity'],
    ...framingField(framing),
    ...(isAlone ? [['Connection', 'close'] as const] : []),
    ...(isUpgrade ? [['Upgrade', 'websocket'] as const, ['Connection', 'Upgrade'] as const] : []),
    ...to.headers.map(({ name, value }) => [name, value] as const),
  ];
  const isLast = connection.includes('close');
  const { rule } = chosen;
  const headOut = headText(`${method} ${target} ${version}`, sent);
  return { method, head: headOut, framing, isUpgrade, isAlone, isLast, rule };
}

function asksForWebSocket(fields: readonly Field[], connection: readonly string[]): boolean {
  const upgrades = valuesOf(fields, 'upgrade');
  return (
    connection.includes('upgrade') && upgrades.length === 1 && upgrades[0]!.toLowerCase() === 'websocket'
  );
}

function isReplaced(name: string, connection: readonly string[], { headers }: EndedHost): boolean {
  const lower = name.toLowerCase();
  const spelled = spelledName(name);
  return (
    REPLACED.includes(spelled) ||
    (headers.length > 0 && IN_PARTS.includes(spelled)) ||
    connection.includes(lower) ||
    headers.some((header) => spelledName(header.name) === spelled)
  );
}

function hostField({ host, port }: EndedHost): string {
  const name = nameOf(host);
  return port === HTTPS_PORT ? withPort(name, '').slice(0, -1) : withPort(name, port);
}
