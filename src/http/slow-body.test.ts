import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { describe, it } from 'node:test';
import { TestProject } from '../../test/support/project.ts';
import { ProjectHost } from '../operations/project-host.ts';
import { ChangeStream } from './change-stream.ts';
import { Gate } from './gate.ts';
import { Site } from './serve-http.ts';

const HEAD = ['POST /api/v1/run.list HTTP/1.1', 'Authorization: Bearer t', 'Content-Type: application/json'];

/** All that a server answers to a request before it closes the connection. */
async function answerTo(rest: string): Promise<string> {
  using project = new TestProject({});
  const owner = { kind: 'token', name: 'ada' } as const;
  const host = new ProjectHost({ cwd: project.root, env: project.environment(), surface: 'http' });
  const gate = new Gate([{ name: 'ada', token: 't' }], () => 0);
  const changes = new ChangeStream(host, owner);
  const site = new Site({ host, gate, changes, maxBodyMs: 100 });
  const server = createServer((req, res) => void site.serve(req, res)).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  try {
    return await new Promise<string>((resolve, reject) => {
      let text = '';
      const socket = connect(port, '127.0.0.1', () =>
        socket.write(`${[...HEAD, `Host: 127.0.0.1:${port}`].join('\r\n')}\r\n${rest}`),
      );
      socket.on('data', (bytes) => {
        text += String(bytes);
      });
      socket.on('error', reject).on('close', () => resolve(text));
    });
  } finally {
    server.close();
  }
}

describe('the HTTP API', () => {
  for (const [framing, rest] of [
    ['a Content-Length', 'Content-Length: 100\r\n\r\n{"text":'],
    ['chunks', 'Transfer-Encoding: chunked\r\n\r\n8\r\n{"text":\r\n'],
  ] as const)
    it(`answers 408 to a body with ${framing} that stalls, and closes the connection`, async () => {
      const answer = await answerTo(rest);
      assert.match(answer, /^HTTP\/1\.1 408 /);
      assert.match(answer, /"code":"E_USAGE","message":"the body was not complete after 0\.1 s"/);
    });

  it('answers a body that is complete', async () => {
    const answer = await answerTo('Connection: close\r\nContent-Length: 12\r\n\r\n{"text":"q"}');
    assert.match(answer, /^HTTP\/1\.1 200 /);
  });
});
