import type { Socket } from 'node:net';
import { remedySentence } from '../../policy/explain-denial.ts';
import { inManifest } from './connection-log.ts';
import type { WayOut } from './egress-route.ts';
import { nameOf, withPort } from './host.ts';
import { type ProxyRequest, readProxyRequest } from './proxy-request.ts';
import { covers } from './rule.ts';

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
      const allow = inManifest(host, port);
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
