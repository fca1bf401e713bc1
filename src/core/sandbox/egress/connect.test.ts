import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { createServer, type Server } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { dial } from './connect.ts';
import { planEgress } from './egress-plan.ts';
import type { Host } from './host.ts';

const NAME: Host = { kind: 'name', name: 'api.test' };

describe('dialling', () => {
  let server: Server;
  let port: number;
  let heard = 0;
  before(async () => {
    server = createServer((socket) => {
      heard++;
      socket.on('error', () => {}).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    port = (server.address() as { port: number }).port;
  });
  after(() => server.close());

  /** The result for a name that resolves to these addresses, the next ones at each lookup. */
  async function dialled(opened: string[], ...answers: string[][]) {
    const plan = planEgress('t', [`api.test:${port}`], { allow_private_egress: opened, egress_hosts: {} });
    let asked = 0;
    const resolve = async () => answers[Math.min(asked++, answers.length - 1)]!;
    const before = heard;
    const { signal } = new AbortController();
    const came = await dial(plan, NAME, port, { resolve, signal });
    // A connection is not ended by the time limit of the dial, nor by its signal.
    assert.equal(getEventListeners(signal, 'abort').length, 0);
    if (came.kind === 'connected') {
      await new Promise((done) => came.socket.once('close', done).resume().end());
    }
    return { came, asked, heard: heard - before };
  }

  it('reaches an address that the configuration opens', async () => {
    const { came, heard } = await dialled([`api.test:${port}`], ['127.0.0.1']);
    assert.deepEqual([came.kind === 'connected' && came.address, heard], ['127.0.0.1', 1]);
  });

  it('looks a name up once, so that it cannot lead elsewhere after it was checked', async () => {
    const { came, asked, heard } = await dialled([], ['192.0.2.1'], ['127.0.0.1']);
    assert.deepEqual([came.kind, asked, heard], ['refused', 1, 0]);
  });

  it('refuses what is not public, whatever it is written like', async () => {
    for (const address of [
      ...['127.0.0.1', '::1', '::ffff:127.0.0.1', '0.0.0.0', '10.0.0.1', '169.254.169.254', 'fd00:ec2::254'],
      ...['100.64.0.1', '224.0.0.1', 'fe80::1', '2002:7f00:1::', '64:ff9b::7f00:1'],
    ]) {
      const { came, heard } = await dialled([], [address]);
      assert.deepEqual([came.kind, heard], ['refused', 0], address);
    }
  });

  it('takes of many addresses those that are allowed, and tries the next one when one does not answer', async () => {
    const { came, heard } = await dialled(
      [`127.0.0.1:${port}`, `127.0.0.2:${port}`],
      ['169.254.169.254', '127.0.0.2', '127.0.0.1'],
    );
    assert.deepEqual([came.kind === 'connected' && came.address, heard], ['127.0.0.1', 1]);
  });

  it('lets a name open one’s own network, but not what is only reached by mistake or by malice', async () => {
    const opened = [`api.test:${port}`, '*'];
    for (const address of ['169.254.169.254', 'fe80::1', '0.0.0.0', '224.0.0.1']) {
      const { came } = await dialled(opened, [address]);
      const line = came.kind === 'refused' ? came.refusal.allow?.line : undefined;
      assert.ok(line?.includes(address), `${address}: ${came.kind} ${line}`);
    }
    const other = await dialled([`api.test:${port + 1}`, `other.test:${port}`], ['127.0.0.1']);
    assert.deepEqual([other.came.kind, other.heard], ['refused', 0]);
  });

  it('distinguishes a failure from a refusal', async () => {
    const failing = async () => {
      throw Object.assign(new Error('no'), { code: 'ENOTFOUND' });
    };
    const plan = planEgress('t', [], { allow_private_egress: [], egress_hosts: {} });
    const { signal } = new AbortController();
    const came = await dial(plan, NAME, port, { resolve: failing, signal });
    assert.deepEqual(came, { kind: 'failed', why: 'ENOTFOUND' });
    assert.deepEqual((await dialled([], [])).came, { kind: 'failed', why: 'the name has no address' });
  });

  it('ends with the run', async () => {
    const plan = planEgress('t', [], {
      allow_private_egress: ['*'],
      egress_hosts: { 'api.test': '127.0.0.1' },
    });
    const over = AbortSignal.abort();
    assert.equal((await dial(plan, NAME, port, { signal: over })).kind, 'failed');
  });
});
