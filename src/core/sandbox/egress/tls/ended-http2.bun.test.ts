import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  type ClientHttp2Session,
  connect,
  constants,
  createSecureServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Stream,
} from 'node:http2';
import { connect as connectSocket, createServer, type Server, type Socket } from 'node:net';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { connect as connectTls, createSecureContext, createServer as createTlsServer } from 'node:tls';
import { until } from '../../../../../test/support/project.ts';
import { findProgram } from '../../../registry/find-program.ts';
import { RunInjector } from '../../../run/secrets/run-injector.ts';
import { EgressJournal } from '../connection-log.ts';
import type { WayOut } from '../egress-route.ts';
import type { Host } from '../host.ts';
import { RunAuthority } from './authority.ts';
import { TlsEnding } from './tls-ending.ts';

const VALUE = 'the-value-of-the-secret';
const COVERED = '*'.repeat(VALUE.length);
const HOST: Host = { kind: 'name', name: 'api.test' };
const PORT = 443;
const nghttp = findProgram('nghttp', process.env);

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
  trailers: IncomingHttpHeaders;
  rstCode: number;
}

describe('a program that speaks HTTP/2 alone', () => {
  const authority = new RunAuthority();
  const notes: string[] = [];
  const sockets = new Set<Socket>();
  const heard: { headers: IncomingHttpHeaders; body: string }[] = [];
  /** The paths of the requests that have reached the host, complete or not. */
  const begun: string[] = [];
  let onAborted = () => {};
  let server: Http2SecureServer;
  /** What the name of the host leads to. */
  let reached: { address(): unknown };
  let front: Server;
  let ending: TlsEnding;
  let client: ClientHttp2Session;

  const way = {
    journal: new EgressJournal(({ msg }) => notes.push(msg)),
    async reach() {
      const outer = connectSocket({ port: portOf(reached), host: '127.0.0.1', allowHalfOpen: true });
      await new Promise((resolve) => outer.once('connect', resolve));
      return { kind: 'connected', outer, count: way.journal.allowed('api.test', PORT, '127.0.0.1') };
    },
  } as unknown as WayOut;

  before(async () => {
    server = createSecureServer(authority.identityOf(HOST));
    // It says what it got, secret included, and gives the secret away in a trailer.
    server.on('stream', (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => {
      stream.on('error', () => {});
      begun.push(String(headers[':path']));
      stream.on('aborted', () => onAborted());
      if (headers[':path'] === '/cut') {
        stream.respond({ ':status': 200 });
        stream.write('a part', () => stream.destroy(new Error('cut off')));
        return;
      }
      let body = '';
      stream.on('data', (data) => {
        body += data.toString('latin1');
      });
      stream.on('end', () => {
        // Bun says `end` for a stream that was reset, too.
        if (stream.destroyed || stream.rstCode !== constants.NGHTTP2_NO_ERROR) return;
        heard.push({ headers, body });
        const echo = String(headers['authorization'] ?? 'none');
        stream.respond({ ':status': 200, 'x-echo': echo }, { waitForTrailers: true });
        stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', 'x-end': echo }));
        stream.end(`${echo} ${body.length}`);
      });
    });
    reached = server;
    front = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (inner) => {
      sockets.add(inner.on('error', () => {}));
      void ending.serve(inner, ending.hostOf(HOST, PORT)!, way);
    });
    await Promise.all(
      [server, front].map((each) => new Promise<void>((resolve) => each.listen(0, '127.0.0.1', resolve))),
    );
  });
  after(() => {
    server.close();
    front.close();
    for (const socket of sockets) socket.destroy();
  });
  beforeEach(() => {
    heard.length = 0;
    begun.length = 0;
    notes.length = 0;
    reopen();
  });
  afterEach(() => client.destroy());

  /** Serves with an injected secret, or with rules. */
  function reopen(rules: readonly { methods?: string[]; paths?: string[]; maxUploadBytes?: number }[] = []) {
    client?.destroy();
    const injections =
      rules.length > 0
        ? []
        : [{ host: HOST, port: PORT, secret: 'KEY', header: 'Authorization', format: 'Bearer {}' }];
    ending = new TlsEnding(
      {
        rules: [],
        opened: [],
        hosts: new Map(),
        injections,
        requests: rules.map((rule) => ({ host: HOST, port: PORT, ...rule })),
        authorities: [],
      } as unknown as ConstructorParameters<typeof TlsEnding>[0],
      new RunInjector([{ name: 'KEY', bytes: Buffer.from(VALUE) }]),
      { system: '', further: authority.certificate },
    );
    client = openClient();
  }

  function openClient(protocols = ['h2']): ClientHttp2Session {
    const secureContext = createSecureContext({ ca: ending.trusted });
    const session = connect('https://api.test', {
      createConnection: () =>
        connectTls({
          port: portOf(front),
          host: '127.0.0.1',
          servername: 'api.test',
          secureContext,
          ALPNProtocols: protocols,
        }),
    });
    session.on('error', () => {});
    return session;
  }

  async function call(headers: OutgoingHttpHeaders, body?: string): Promise<Answer> {
    const stream = client.request(
      { ':path': '/', ':authority': 'api.test', ...headers },
      { endStream: body === undefined },
    );
    const got: Answer = { status: 0, headers: {}, body: '', trailers: {}, rstCode: 0 };
    stream.on('error', () => {});
    stream.on('response', (given) => {
      got.headers = given;
      got.status = Number(given[':status']);
    });
    stream.on('trailers', (given) => {
      got.trailers = given;
    });
    stream.on('data', (data) => {
      got.body += data.toString('latin1');
    });
    if (body !== undefined) stream.end(body);
    await new Promise<void>((resolve) => stream.once('close', () => resolve()));
    got.rstCode = stream.rstCode;
    return got;
  }

  it('gets answers to requests with the secret, which is overwritten in headers, bodies and trailers', async () => {
    const body = 'x'.repeat(300_000);
    const posted = call(
      {
        ':method': 'POST',
        ':path': '/pkg.Service/Call',
        te: 'trailers',
        authorization: 'own',
        range: 'bytes=1-',
      },
      body,
    );
    const [got, other] = await Promise.all([posted, call({ ':path': '/b' })]);
    assert.deepEqual(
      [got.status, got.body, got.headers['x-echo'], got.trailers['grpc-status'], got.trailers['x-end']],
      [200, `Bearer ${COVERED} 300000`, `Bearer ${COVERED}`, '0', `Bearer ${COVERED}`],
    );
    assert.equal(other.body, `Bearer ${COVERED} 0`);
    const { headers } = heard.find((each) => each.headers[':path'] === '/pkg.Service/Call')!;
    assert.deepEqual(
      [headers['authorization'], headers['te'], headers['range'], headers[':authority']],
      [`Bearer ${VALUE}`, 'trailers', undefined, 'api.test'],
    );
  });

  it('is held to the rules of the host, request by request', async () => {
    reopen([
      { methods: ['GET'], paths: ['/a/**'] },
      { methods: ['POST'], paths: ['/up'], maxUploadBytes: 1000 },
    ]);
    assert.equal((await call({ ':path': '/a/x' })).status, 200);
    for (const headers of [
      { ':path': '/b' },
      { ':path': '/a/../b' },
      { ':path': '/a/x', ':method': 'DELETE' },
      { ':path': '/a/x', 'x-http-method-override': 'DELETE' },
    ]) {
      const refused = await call(headers);
      assert.deepEqual(
        [refused.status, /not allowed/.test(refused.body)],
        [403, true],
        JSON.stringify(headers),
      );
    }
    assert.equal((await call({ ':path': '/up', ':method': 'POST' }, 'x'.repeat(100))).status, 200);
    const large = await call({ ':path': '/up', ':method': 'POST' }, 'x'.repeat(50_000));
    assert.ok(large.status === 413 || large.rstCode !== constants.NGHTTP2_NO_ERROR, String(large.status));
    assert.deepEqual(
      heard.map(({ headers, body }) => [headers[':path'], body.length]),
      [
        ['/a/x', 0],
        ['/up', 100],
      ],
    );
  });

  it('reaches no other host by the same connection, and opens no tunnel in it', async () => {
    for (const [headers, status] of [
      [{ ':authority': 'other.test' }, 421],
      [{ ':method': 'CONNECT' }, 405],
      [{ ':method': 'TRACE' }, 405],
      [{ host: 'other.test' }, 421],
    ] as const) {
      const got = await Promise.resolve()
        .then(() => call(headers))
        // The client itself refuses to send some of them.
        .catch(() => undefined);
      if (got !== undefined && got.rstCode === constants.NGHTTP2_NO_ERROR)
        assert.equal(got.status, status, JSON.stringify(headers));
    }
    assert.deepEqual(heard, []);
    assert.equal((await call({})).status, 200, 'the control');
  });

  it('sends no part of a body as a whole one, and gets no part of an answer as a whole one', async () => {
    const stream = client.request({ ':method': 'POST', ':path': '/part', ':authority': 'api.test' });
    stream.on('error', () => {});
    stream.write('a part');
    await until(() => begun.includes('/part'));
    const aborted = new Promise((resolve) => {
      onAborted = () => resolve(true);
    });
    stream.destroy(new Error('cut off'));
    await aborted;
    const cut = await call({ ':path': '/cut' });
    assert.notEqual(cut.rstCode, constants.NGHTTP2_NO_ERROR);
    assert.equal((await call({})).status, 200, 'the connection goes on');
    assert.deepEqual(
      heard.map(({ headers }) => headers[':path']),
      ['/'],
    );
  });

  it('is cut off when it cancels requests over and over, and the next connection is served', async () => {
    const closed = new Promise<void>((resolve) => client.once('close', () => resolve()));
    for (let sent = 0; sent < 2000 && !client.destroyed && !client.closed; sent++) {
      const stream = client.request({ ':path': '/', ':authority': 'api.test', ':method': 'POST' });
      stream.on('error', () => {});
      stream.destroy(new Error('cancelled'));
      // Fewer at once than a connection may have: the limit for that is another one.
      if (sent % 20 === 0) await call({ ':path': '/b' });
    }
    await closed;
    assert.match(notes.join(), /its HTTP\/2 is refused|cancelled more than 200 requests/);
    client = openClient();
    assert.equal((await call({})).status, 200);
  });

  it('gets status 502 when the host speaks no HTTP/2', async () => {
    const old = createTlsServer(authority.identityOf(HOST)).listen(0, '127.0.0.1');
    await new Promise((resolve) => old.once('listening', resolve));
    reached = old;
    try {
      const got = await call({});
      assert.equal(got.status, 502);
      assert.match(got.body, /api\.test:443 speaks no HTTP\/2/);
    } finally {
      reached = server;
      old.close();
    }
  });

  it('gets HTTP/1.1 when it speaks that, too', async () => {
    const secureContext = createSecureContext({ ca: ending.trusted });
    const tls = connectTls({
      port: portOf(front),
      host: '127.0.0.1',
      servername: 'api.test',
      secureContext,
      ALPNProtocols: ['h2', 'http/1.1'],
    });
    await new Promise((resolve) => tls.once('secureConnect', resolve));
    assert.equal(tls.alpnProtocol, 'http/1.1');
    tls.destroy();
  });

  it('is served as nghttp', { skip: nghttp === undefined && 'nghttp is not installed' }, async () => {
    const child = spawn(nghttp!, ['-v', '-H:authority: api.test', `https://127.0.0.1:${portOf(front)}/n`]);
    let text = '';
    child.stdout.on('data', (data) => {
      text += data;
    });
    await new Promise((resolve) => child.once('close', resolve));
    assert.match(text, /grpc-status: 0/);
    assert.ok(text.includes(`Bearer ${COVERED} 0`), text);
  });
});

function portOf(server: { address(): unknown }): number {
  return (server.address() as { port: number }).port;
}
