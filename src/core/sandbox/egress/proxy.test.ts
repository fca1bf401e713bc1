import assert from 'node:assert/strict';
import { connect, createServer } from 'node:net';
import { describe, it } from 'node:test';
import type { WayOut } from './egress-route.ts';
import { answerProxy, readProxyRequest } from './proxy.ts';

const forwarded = (head: string) => {
  const request = readProxyRequest(head);
  return typeof request === 'string' || request.kind !== 'forward' ? request : request.head;
};

describe('a request to the proxy', () => {
  it('for a tunnel is decided on what it names, whatever its headers say', () => {
    assert.deepEqual(readProxyRequest('CONNECT WWW.Example.com:443 HTTP/1.1\r\nHost: evil.test:443'), {
      kind: 'tunnel',
      host: { kind: 'name', name: 'www.example.com' },
      port: 443,
    });
    assert.deepEqual(readProxyRequest('CONNECT [::ffff:127.0.0.1]:443 HTTP/1.0'), {
      kind: 'tunnel',
      host: { kind: 'address', address: '127.0.0.1' },
      port: 443,
    });
  });

  it('to be passed on is one that its host understands, and its last', () => {
    assert.equal(
      forwarded(
        'POST http://EXAMPLE.com?q=1 HTTP/1.1\r\nHost: example.com:80\r\nProxy-Connection: keep-alive\r\nConnection: keep-alive, X-Secret\r\nX-Secret: 1\r\nContent-Length: 3\r\nAccept: */*',
      ),
      'POST /?q=1 HTTP/1.1\r\nHost: example.com\r\nContent-Length: 3\r\nAccept: */*\r\nConnection: close\r\n\r\n',
    );
    assert.equal(
      forwarded('GET http://[2001:db8::1]:8080/a/b HTTP/1.0'),
      'GET /a/b HTTP/1.0\r\nHost: [2001:db8::1]:8080\r\nConnection: close\r\n\r\n',
    );
  });

  it('is refused when a server could understand another', () => {
    for (const head of [
      'CONNECT example.com HTTP/1.1',
      'CONNECT http://example.com:443 HTTP/1.1',
      'CONNECT user@example.com:443 HTTP/1.1',
      'CONNECT evil.test\0.example.com:443 HTTP/1.1',
      'CONNECT example.com:443\tx HTTP/1.1',
      'CONNECT example.com.:443 HTTP/1.1',
      'CONNECT 2130706433:443 HTTP/1.1',
      'CONNECT 0x7f.0.0.1:443 HTTP/1.1',
      'CONNECT example.com:443 HTTP/2.0',
      'PRI * HTTP/2.0',
      'GET / HTTP/1.1\r\nHost: example.com',
      'GET https://example.com/ HTTP/1.1',
      'GET ftp://example.com/ HTTP/1.1',
      'GET http:///path HTTP/1.1',
      'GET http://user:word@example.com/ HTTP/1.1',
      'GET http://example.com\\@evil.test/ HTTP/1.1',
      'GET http://example.com/a b HTTP/1.1',
      'GET http://example.com/#x HTTP/1.1',
      'GET http://example.com/ HTTP/1.1\r\nHost: evil.test',
      'GET http://example.com/ HTTP/1.1\r\nHost: example.com:8080',
      'GET http://example.com/ HTTP/1.1\r\nHost: example.com\r\nHost: example.com',
      'GET http://example.com/ HTTP/1.1\r\nHost : example.com',
      'GET http://example.com/ HTTP/1.1\r\nX: 1\n Host: evil.test',
      'GET http://example.com/ HTTP/1.1\r\nX: 1\r\n folded',
      'GET http://example.com/ HTTP/1.1\nHost: example.com',
      'GET http://example.com/ HTTP/1.1\r\nno header',
      'GET http://example.com/ HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked',
      'GET http://example.com/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2',
      ' GET http://example.com/ HTTP/1.1',
      '',
    ])
      assert.equal(typeof readProxyRequest(head), 'string', head);
  });
});

describe('a tunnel to a host whose TLS ends in the gateway', () => {
  /** What the proxy answers to these bytes, and the hosts with which it has begun. */
  async function answered(bytes: string): Promise<{ text: string; served: number[] }> {
    const served: number[] = [];
    const journal = { denied() {} } as Partial<WayOut['journal']> as WayOut['journal'];
    const way = {
      journal,
      allows: async () => true,
      endsTls: () => true,
      serveTls(inner, _host, port) {
        served.push(port);
        inner.end();
      },
    } as Partial<WayOut> as WayOut;
    const server = createServer((socket) => answerProxy(socket, way));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const socket = connect((server.address() as { port: number }).port, '127.0.0.1');
    socket.write(bytes);
    let text = '';
    for await (const chunk of socket) text += chunk;
    server.close();
    return { text, served };
  }
  const HEAD = 'CONNECT api.test:443 HTTP/1.1\r\n\r\n';

  it('begins after its answer, and is refused when a byte follows its head', async () => {
    const begun = await answered(HEAD);
    assert.deepEqual(begun.served, [443]);
    assert.match(begun.text, /^HTTP\/1\.1 200 /);
    const refused = await answered(`${HEAD}x`);
    assert.deepEqual(refused.served, []);
    assert.match(refused.text, /^HTTP\/1\.1 400 /);
    assert.match(refused.text, /bytes follow its head/);
  });

  it('is refused for a request that is not encrypted', async () => {
    const { text, served } = await answered('GET http://api.test/ HTTP/1.1\r\n\r\n');
    assert.deepEqual(served, []);
    assert.match(text, /^HTTP\/1\.1 403 [\s\S]*by https:\/\/ only/);
  });
});
