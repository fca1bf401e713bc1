import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { describe, it } from 'node:test';
import { AcorError } from '../../protocol/acor-error.ts';
import { listenOnLoopback } from './listen.ts';

describe('a server on the loopback interface', () => {
  it('keeps a connection that rests for longer than clients do, and drops one that sends no headers', async () => {
    const server = createServer();
    await listenOnLoopback(server, 0);
    server.close();
    assert.ok(server.keepAliveTimeout > 60_000, `${server.keepAliveTimeout}`);
    assert.ok(server.headersTimeout <= 10_000, `${server.headersTimeout}`);
  });

  it('names the way out when another program listens on its port', async () => {
    const first = createServer();
    const port = await listenOnLoopback(first, 0);
    try {
      await assert.rejects(listenOnLoopback(createServer(), port), (error) => {
        assert.ok(error instanceof AcorError);
        assert.equal(error.code, 'E_USAGE');
        assert.match(error.message, new RegExp(`port ${port} is not available`));
        assert.match(error.hint ?? '', /another --port/);
        return true;
      });
    } finally {
      first.close();
    }
  });
});
