import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { connect as connectSocket, createServer, type Server, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { connect, createSecureContext, TLSSocket } from 'node:tls';
import { RunInjector } from '../../../run/secrets/run-injector.ts';
import { EgressJournal } from '../connection-log.ts';
import type { WayOut } from '../egress-route.ts';
import type { Host } from '../host.ts';
import { RunAuthority } from './authority.ts';
import { TlsEnding } from './tls-ending.ts';

const VALUE = 'the-value-of-the-secret';
const HOST: Host = { kind: 'name', name: 'api.test' };
const PORT = 443;

describe('the authority of a run', () => {
  const authority = new RunAuthority();

  it('issues certificates of one host each, which it alone can issue', () => {
    const own = new X509Certificate(authority.certificate);
    assert.equal(own.ca, true);
    assert.equal(own.verify(own.publicKey), true);
    for (const host of [HOST, address('192.0.2.7'), address('2001:db8::7')]) {
      const leaf = new X509Certificate(authority.identityOf(host).cert);
      assert.deepEqual([leaf.ca, leaf.checkIssued(own), leaf.verify(own.publicKey)], [false, true, true]);
      assert.equal(leaf.verify(new X509Certificate(new RunAuthority().certificate).publicKey), false);
      const names = host.kind === 'name' ? leaf.checkHost(host.name) : leaf.checkIP(host.address);
      assert.ok(names, String(leaf.subjectAltName));
      assert.equal(leaf.checkHost('other.test'), undefined);
    }
  });

  it('is another one for each run, with a number of its own on each certificate', () => {
    const serials = [authority, new RunAuthority()].flatMap((each) =>
      [each.identityOf(HOST).cert, each.identityOf(HOST).cert].map(
        (pem) => new X509Certificate(pem).serialNumber,
      ),
    );
    assert.equal(new Set(serials).size, 4);
  });
});

describe('a connection whose TLS ends in the gateway', () => {
  /** What the host says after the head of a request, and what it got. */
  let replies: string[] = [];
  let heard = '';
  let server: Server;
  let front: Server;
  const notes: string[] = [];
  const open = new Set<Socket>();
  const authority = new RunAuthority();
  const ending = new TlsEnding(
    {
      rules: [],
      opened: [],
      hosts: new Map(),
      injections: [{ host: HOST, port: PORT, secret: 'KEY', header: 'Authorization', format: 'Bearer {}' }],
      requests: [],
      authorities: [],
    },
    new RunInjector([{ name: 'KEY', bytes: Buffer.from(VALUE) }]),
    { system: '', further: authority.certificate },
  );
  const way = {
    journal: new EgressJournal(({ msg }) => notes.push(msg)),
    async reach() {
      const outer = connectSocket({ port: portOf(server), host: '127.0.0.1', allowHalfOpen: true });
      await new Promise((resolve) => outer.once('connect', resolve));
      return { kind: 'connected', outer, count: way.journal.allowed('api.test', PORT, '127.0.0.1') };
    },
  } as unknown as WayOut;

  before(async () => {
    server = createServer((socket) => {
      keep(socket);
      const tls = new TLSSocket(socket, { isServer: true, secureContext: authority.contextFor(HOST) });
      tls.on('error', () => {});
      tls.on('data', (data) => {
        heard += data.toString('latin1');
        if (!heard.endsWith('\r\n\r\n') && !heard.endsWith('end')) return;
        const [reply, ...rest] = replies;
        replies = rest;
        if (reply === undefined) tls.destroy();
        else tls.write(Buffer.from(reply, 'latin1'));
        if (reply?.includes('until close') === true) tls.end();
      });
    });
    front = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (inner) => {
      keep(inner);
      void ending.serve(inner, ending.hostOf(HOST, PORT)!, way);
    });
    await Promise.all(
      [server, front].map((each) => new Promise<void>((resolve) => each.listen(0, '127.0.0.1', resolve))),
    );
  });
  after(() => {
    server.close();
    front.close();
    for (const socket of open) socket.destroy();
  });

  function keep(socket: Socket): void {
    open.add(socket.on('error', () => {}));
    socket.once('close', () => open.delete(socket));
  }

  /** Sends requests, each after the answer to the one before ended with the text beside it, and returns all that came. */
  async function talk(...steps: readonly [request: string, until: string][]): Promise<string> {
    heard = '';
    const secureContext = createSecureContext({ ca: ending.trusted });
    const tls = connect({ port: portOf(front), host: '127.0.0.1', servername: 'api.test', secureContext });
    let got = '';
    let look = () => {};
    tls.on('error', () => {});
    tls.on('data', (data) => {
      got += data.toString('latin1');
      look();
    });
    const closed = new Promise<void>((resolve) => tls.once('close', resolve));
    for (const [request, until] of steps) {
      const from = got.length;
      tls.write(Buffer.from(request, 'latin1'));
      const answered = new Promise<void>((resolve) => {
        look = () => (got.slice(from).endsWith(until) ? resolve() : undefined);
      });
      await Promise.race([answered, closed]);
    }
    tls.destroy();
    await closed;
    return got;
  }

  const GET = 'GET / HTTP/1.1\r\nHost: api.test\r\n\r\n';
  const OK = 'HTTP/1.1 200 OK\r\n';

  it('carries several requests, each with the secret', async () => {
    replies = [`${OK}Content-Length: 3\r\n\r\nend`, 'HTTP/1.1 204 No Content\r\n\r\n'];
    const post = 'POST /x HTTP/1.1\r\nHost: api.test:443\r\nContent-Length: 3\r\n\r\nend';
    const got = await talk([GET, 'end'], [post, '\r\n\r\n']);
    assert.equal(got, `${OK}Content-Length: 3\r\n\r\nendHTTP/1.1 204 No Content\r\n\r\n`);
    const first = `Host: api.test\r\nAccept-Encoding: identity\r\n`;
    const secret = `Authorization: Bearer ${VALUE}\r\n\r\n`;
    assert.equal(
      heard,
      `GET / HTTP/1.1\r\n${first}${secret}POST /x HTTP/1.1\r\n${first}Content-Length: 3\r\n${secret}end`,
    );
  });

  it('passes on an answer without a length up to its end, and answers before it', async () => {
    replies = [`HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${OK}\r\nuntil close`];
    assert.equal(
      await talk([GET, 'close']),
      `HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${OK}Connection: close\r\n\r\nuntil close`,
    );
  });

  it('overwrites an echo of the secret, also across the borders of chunks, and keeps every length', async () => {
    const chunks = [...VALUE].map((character) => `1\r\n${character}\r\n`).join('');
    replies = [
      `${OK}X-Echo: ${VALUE}\r\nContent-Length: ${VALUE.length + 3}\r\n\r\n${VALUE}end`,
      `${OK}Transfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`,
    ];
    const got = await talk([GET, 'end'], [GET, '0\r\n\r\n']);
    const covered = '*'.repeat(VALUE.length);
    const [first, second = ''] = got.split(`${covered}end`);
    assert.equal(first, `${OK}X-Echo: ${covered}\r\nContent-Length: ${VALUE.length + 3}\r\n\r\n`);
    const body = second.slice(second.indexOf('\r\n\r\n') + 4).replaceAll(/[0-9a-f]+\r\n(\**)\r\n/g, '$1');
    assert.equal(body, covered);
  });

  it('shows nothing of a part of the secret that an answer repeats', async () => {
    const encoded = [...VALUE]
      .map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join('');
    const guesses = [VALUE.slice(0, 12), VALUE.slice(0, -1), 't', encoded.slice(0, 8), encoded.slice(0, 50)];
    for (const guess of guesses) {
      const other = guess.replace(/./g, '#');
      const answers = await repeated(guess);
      assert.deepEqual(
        answers.map((each) => each.replaceAll(`###${guess}`, `###${other}`)),
        await repeated(other),
        guess,
      );
    }
    // A control.
    const whole = await repeated(VALUE);
    assert.ok(
      whole.every((each) => each.includes('*'.repeat(VALUE.length))),
      whole.join(),
    );
  });

  /** What the tool gets when the host says a text, in a chunk and in a body with a length. */
  async function repeated(text: string): Promise<string[]> {
    const size = (text.length + 3).toString(16);
    replies = [
      `${OK}X: ###${text}\r\nTransfer-Encoding: chunked\r\n\r\n${size}\r\n###${text}\r\n0\r\n\r\n`,
      `${OK}\r\nuntil close ###${text}`,
    ];
    const chunked = await talk([GET, '0\r\n\r\n']);
    return [chunked, await talk([GET, 'never'])];
  }

  it('is cut off when the host sends something that is not an answer', async () => {
    for (const reply of [
      'SSH-2.0-x\r\n\r\n',
      `${OK}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`,
      `${OK}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      'HTTP/1.1 101 Switching Protocols\r\n\r\n',
    ]) {
      replies = [reply];
      assert.equal(await talk([GET, 'never']), '', reply);
    }
    replies = [`${OK}Transfer-Encoding: chunked\r\n\r\nzz\r\n`];
    assert.equal(await talk([GET, 'never']), `${OK}Transfer-Encoding: chunked\r\n\r\n`);
  });
});

function address(text: string): Host {
  return { kind: 'address', address: text };
}

function portOf(server: Server): number {
  return (server.address() as { port: number }).port;
}
