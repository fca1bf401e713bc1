import type { Socket } from 'node:net';
import { toAllow } from './connection-log.ts';
import type { WayOut } from './egress-route.ts';
import { coversHost, type Host, readHost } from './host.ts';

const HEADER_BYTES = 12;
const MAX_QUERY_BYTES = 512;
const A = 1;
const ANSWER = 0x8000;
const RECURSION_WANTED = 0x0100;
const RECURSION_OFFERED = 0x0080;
const NO_SUCH_NAME = 3;

/**
 * One connection to the DNS server of a tool's network. It knows only the names of the rules and forwards no query; an
 * unknown name is reported and refused. So a tool cannot exfiltrate data through DNS queries.
 */
export function answerNames(inner: Socket, way: WayOut): void {
  let pending = Buffer.alloc(0);
  inner.on('data', (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk]);
    for (let query = firstQuery(); query !== undefined; query = firstQuery()) {
      const reply = query === 'malformed' ? undefined : replyTo(query, way);
      // Closes a connection whose client asks without reading the answers.
      if (reply === undefined || !inner.write(reply)) {
        inner.destroy();
        return;
      }
    }
  });
  inner.once('end', () => inner.end());
  inner.resume();

  function firstQuery(): Buffer | 'malformed' | undefined {
    if (inner.destroyed || pending.length < 2) return undefined;
    const length = pending.readUInt16BE(0);
    if (length < HEADER_BYTES || length > MAX_QUERY_BYTES) return 'malformed';
    if (pending.length < 2 + length) return undefined;
    const query = pending.subarray(2, 2 + length);
    pending = pending.subarray(2 + length);
    return query;
  }
}

/** The reply with its length prefix; undefined for anything that is not a query of one name. */
function replyTo(query: Buffer, way: WayOut): Buffer | undefined {
  const question = readQuestion(query);
  if (question === undefined) return undefined;
  const { name, type, end } = question;
  const host = readHost(name);
  const address = host?.kind === 'name' ? way.layout.aliases.get(host.name) : undefined;
  if (address === undefined) reportOf(host, way);
  const answer =
    address === undefined || type !== A
      ? []
      : // The name stands at the beginning of the question; type A, class IN, for no time at all, four bytes.
        [0xc0, HEADER_BYTES, 0, A, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)];
  const header = Buffer.from(query.subarray(0, HEADER_BYTES));
  const wanted = query.readUInt16BE(2) & RECURSION_WANTED;
  header.writeUInt16BE(ANSWER | wanted | RECURSION_OFFERED | (address === undefined ? NO_SUCH_NAME : 0), 2);
  header.writeUInt16BE(answer.length > 0 ? 1 : 0, 6);
  header.writeUInt32BE(0, 8);
  const reply = Buffer.concat([header, query.subarray(HEADER_BYTES, end), Buffer.from(answer)]);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(reply.length);
  return Buffer.concat([length, reply]);
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } | undefined {
  const isQuery = (query.readUInt16BE(2) & 0xf800) === 0 && query.readUInt16BE(4) === 1;
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (;;) {
    const length = query[at];
    // PTR records do not exist either.
    if (!isQuery || length === undefined || length > 63) return undefined;
    at += 1 + length;
    if (length === 0) break;
    labels.push(query.toString('latin1', at - length, at));
  }
  if (at + 4 > query.length) return undefined;
  return { name: labels.join('.'), type: query.readUInt16BE(at), end: at + 4 };
}

function reportOf(host: Host | undefined, { plan, journal }: WayOut): void {
  if (host?.kind !== 'name') {
    journal.denied({ host: 'names', port: null, why: 'the looked-up name is not valid' });
    return;
  }
  const wide = plan.rules.find((rule) => coversHost(rule.host, host));
  journal.denied({
    host: host.name,
    port: null,
    why:
      wide === undefined
        ? 'it is not in egress_allow'
        : `'${wide.text}' goes through the proxy alone, which the tool finds in HTTPS_PROXY; without it a name has to be named`,
    // DNS has no port; assume the usual one.
    allow: toAllow(plan, host, wide?.port ?? 443),
  });
}
