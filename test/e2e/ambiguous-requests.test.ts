import assert from 'node:assert/strict';
import { connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { TestServer, TOKEN } from '../support/http-server.ts';
import { TestProject } from '../support/project.ts';

let project: TestProject;
let server: TestServer;
before(async () => {
  project = new TestProject({ tools: ['quick'] });
  server = await TestServer.start(project);
});
after(async () => {
  await server.stop();
  project[Symbol.dispose]();
});

/** The status of the answer to a request as bytes. */
function statusOf(head: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    const socket = connect(server.port, '127.0.0.1', () =>
      socket.write(`${head.join('\r\n')}\r\nConnection: close\r\n\r\n`),
    );
    socket.on('error', reject).once('data', (data) => {
      socket.destroy();
      resolve(Number(String(data).split(' ')[1]));
    });
  });
}

describe('a request that can be read in two ways', () => {
  const line = 'GET /api/v1/run.list HTTP/1.1';
  const own = () => `Host: 127.0.0.1:${server.port}`;
  const token = `Authorization: Bearer ${TOKEN}`;

  it('is refused: two hosts, two tokens, two origins, a host in the target', async () => {
    for (const head of [
      [line, own(), 'Host: example.com', token],
      [line, own(), own(), token],
      [line, own(), token, 'Authorization: Bearer other'],
      [line, own(), token, `Origin: http://127.0.0.1:${server.port}`, 'Origin: http://example.com'],
      [line.replace('/api', 'http://example.com/api'), own(), token],
      [line.replace('/api', '//example.com/api'), own(), token],
    ])
      assert.equal(await statusOf(head), 400, head.join(' '));
  });

  it('is not one with each header once', async () => {
    assert.equal(await statusOf([line, own(), token]), 200);
  });
});
