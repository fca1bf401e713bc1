import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { createRequestStateCodec } from '@modelcontextprotocol/server';
import { doubles } from '../../examples/compose/doubles.ts';
import { serveHttp } from '../../src/compose/serve-http.ts';
import { ChangeStream } from '../../src/http/change-stream.ts';
import { Gate } from '../../src/http/gate.ts';
import { Site } from '../../src/http/serve-http.ts';
import { RunWatch } from '../../src/mcp/events/run-watch.ts';
import { Host } from '../../src/mcp/host.ts';
import { serveByHttp } from '../../src/mcp/http.ts';
import { KeptTools } from '../../src/mcp/kept-tools.ts';
import { ProjectHost } from '../../src/operations/project-host.ts';
import { TestProject } from '../support/project.ts';

const MAX_BODY_MS = 100;

/** A server that listens, and a request that it answers by 200. */
interface Served {
  port: number;
  path: string;
  body: string;
  headers?: readonly string[];
}

let project: TestProject;
before(() => {
  project = new TestProject({});
});
after(() => {
  project[Symbol.dispose]();
});

async function acorServe(): Promise<Served> {
  const host = new ProjectHost({ cwd: project.root, env: project.environment(), surface: 'http' });
  const gate = new Gate([{ name: 'ada', token: 't' }], () => 0);
  const changes = new ChangeStream(host, { kind: 'token', name: 'ada' });
  const site = new Site({ host, gate, changes, maxBodyMs: MAX_BODY_MS });
  const server = createServer((req, res) => void site.serve(req, res))
    .listen(0, '127.0.0.1')
    .unref();
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return { port, path: '/api/v1/run.list', body: '{"text":"q"}' };
}

async function acorMcp(): Promise<Served> {
  const shared = {
    host: new Host({ cwd: project.root, env: project.environment() }),
    states: createRequestStateCodec<never>({ key: new Uint8Array(32), ttlSeconds: 60 }),
    declined: new Map(),
    kept: new KeptTools(),
    watch: new RunWatch(),
    maxTools: 10,
  };
  const port = await new Promise<number>((resolve) => {
    void serveByHttp(shared, { port: 0, token: 't', onListening: async (at) => resolve(at) }, MAX_BODY_MS);
  });
  const params = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'raw', version: '1' },
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params });
  return { port, path: '/mcp', body, headers: ['Accept: application/json, text/event-stream'] };
}

async function composed(): Promise<Served> {
  const { url } = await serveHttp(doubles, { token: 't' }, MAX_BODY_MS);
  return {
    port: Number(new URL(url).port),
    path: '/copies.list',
    body: JSON.stringify({ folder: project.root }),
  };
}

/** All that a server answers to a request before it closes the connection. */
function answerTo({ port, path, headers = [] }: Served, rest: string): Promise<string> {
  const head = [
    `POST ${path} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    'Authorization: Bearer t',
    'Content-Type: application/json',
    ...headers,
  ];
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(`${head.join('\r\n')}\r\n${rest}`));
    socket.on('data', (bytes) => {
      text += String(bytes);
    });
    socket.on('error', reject).on('close', () => resolve(text));
  });
}

for (const [name, serve] of [
  ['acor serve', acorServe],
  ['acor mcp --http', acorMcp],
  ['serveHttp of the compose kit', composed],
] as const)
  describe(name, () => {
    let served: Served;
    before(async () => {
      served = await serve();
    });

    for (const [framing, rest] of [
      ['a Content-Length', 'Content-Length: 100\r\n\r\n{"text":'],
      ['chunks', 'Transfer-Encoding: chunked\r\n\r\n8\r\n{"text":\r\n'],
    ] as const)
      it(`answers 408 to a body with ${framing} that stalls, and closes the connection`, async () => {
        const answer = await answerTo(served, rest);
        assert.match(answer, /^HTTP\/1\.1 408 /);
        assert.match(answer, /the body was not complete after 0\.1 s/);
      });

    it('answers a body that is complete', async () => {
      const { body } = served;
      const answer = await answerTo(
        served,
        `Connection: close\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      assert.match(answer, /^HTTP\/1\.1 200 /);
    });
  });
