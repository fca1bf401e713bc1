import assert from 'node:assert/strict';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import * as z from 'zod';
import { EventReceiver, HOOK_HOST } from '../support/event-receiver.ts';
import { type Answer, connectTo } from '../support/mcp-client.ts';
import { startHttp, TOKEN } from '../support/mcp-server.ts';
import { type Running, TestProject, until } from '../support/project.ts';

const VERSION = '2026-07-28';

/** A project whose configuration lets events be sent to the receiver, and `acor mcp --http` over it. */
class Rig {
  readonly project = new TestProject({ tools: ['asks', 'quick'] });
  readonly receiver: EventReceiver;
  #server: { running: Running; url: string } | undefined;

  private constructor(receiver: EventReceiver) {
    this.receiver = receiver;
  }

  static async start(change: (security: Record<string, unknown>) => void = () => {}, certified = HOOK_HOST) {
    const rig = new Rig(await EventReceiver.start({ certified }));
    const settings = rig.receiver.settings(rig.project.root);
    change(settings.security);
    rig.project.write('.acor/config.yaml', JSON.stringify({ version: 1, ...settings }));
    await rig.serve();
    return rig;
  }

  async serve(): Promise<void> {
    this.#server = await startHttp(this.project);
  }

  async kill(): Promise<void> {
    this.#server!.running.child.kill('SIGKILL');
    await this.#server!.running.finished;
  }

  /** The result of a request, or its error. */
  async ask(method: string, params: object, client = 'hooked'): Promise<Answer> {
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': VERSION,
      'io.modelcontextprotocol/clientInfo': { name: client, version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const response = await fetch(this.#server!.url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': VERSION,
        'mcp-method': method,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta } }),
    });
    const text = await response.text();
    const { result, error } = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
    return error ?? result;
  }

  subscribe(name: string, more: object = {}, delivery: object = {}): Promise<Answer> {
    const { url, secret } = this.receiver;
    return this.ask('events/subscribe', {
      name,
      delivery: { mode: 'webhook', url, secret, ...delivery },
      ...more,
    });
  }

  async run(tool = 'quick'): Promise<string> {
    return (await this.project.envelope(['run', tool, tool === 'asks' ? '--detach' : '--no-stream'])).data
      .run_id;
  }

  /** Waits until so many events are delivered. */
  async got(count: number): Promise<void> {
    await until(() => this.receiver.delivered.length >= count);
    assert.deepEqual(this.receiver.problems, []);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill();
    await this.receiver[Symbol.asyncDispose]();
    await this.project.supervisorsExited();
    this.project[Symbol.dispose]();
  }
}

describe('events of runs by webhook', () => {
  it('are offered only over HTTP, and only where the configuration names a host', async () => {
    await using rig = await Rig.start();
    const { events } = await rig.ask('events/list', {});
    assert.deepEqual(events[0].delivery, ['poll', 'push', 'webhook']);
    const stdio = await connectTo(rig.project);
    const ask = (method: string, params: object) =>
      stdio.request({ method, params: { ...params } }, z.looseObject({}));
    assert.deepEqual(((await ask('events/list', {})) as Answer).events[0].delivery, ['poll', 'push']);
    const delivery = { url: rig.receiver.url, secret: rig.receiver.secret };
    await assert.rejects(ask('events/subscribe', { name: 'run.ended', delivery }), { code: -32014 });
    await stdio.close();
    rig.project.write('.acor/config.yaml', 'version: 1\n');
    assert.equal((await rig.subscribe('run.ended')).code, -32014);
    assert.equal(rig.receiver.connections, 0);
  });

  it('are sent after the receiver has confirmed, signed, in order, with a cursor that polls go on from', async () => {
    await using rig = await Rig.start();
    const granted = await rig.subscribe('run.ended', { ttlMs: 120_000 });
    assert.match(granted.id, /^sub_[0-9a-f]{24}$/);
    const leftMs = Date.parse(granted.refreshBefore) - Date.now();
    assert.ok(leftMs > 0 && leftMs <= 120_000, granted.refreshBefore);
    assert.deepEqual(
      rig.receiver.verifications.map(({ subscription }) => subscription),
      [granted.id],
    );
    await rig.subscribe('run.question');
    // One confirmation serves all subscriptions of a client to this address.
    assert.equal(rig.receiver.verifications.length, 1);
    const runs = [await rig.run(), await rig.run()];
    await rig.got(2);
    const asking = await rig.run('asks');
    await rig.got(3);
    const { delivered } = rig.receiver;
    assert.deepEqual(
      delivered.map(({ body }) => [body.name, body.data.run_id]),
      [
        ['run.ended', runs[0]],
        ['run.ended', runs[1]],
        ['run.question', asking],
      ],
    );
    for (const { id, body, subscription } of delivered) {
      assert.equal(id, body.eventId);
      assert.match(subscription, /^sub_/);
    }
    const polled = await rig.ask('events/poll', { name: 'run.ended', cursor: delivered[0]!.body.cursor });
    assert.deepEqual(
      polled.events.map(({ eventId }: Answer) => eventId),
      [delivered[1]!.id],
    );
  });

  it('survive the server, whose files only their owner may read', async () => {
    await using rig = await Rig.start();
    await rig.subscribe('run.ended');
    const folder = join(rig.project.runsDir, 'subscriptions');
    assert.equal(statSync(folder).mode & 0o777, 0o700);
    for (const name of readdirSync(folder).filter((each) => each.startsWith('sub_')))
      assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600, name);
    await rig.kill();
    const run = await rig.run();
    await rig.serve();
    await rig.got(1);
    assert.equal(rig.receiver.delivered[0]!.body.data.run_id, run);
    const second = await rig.run();
    await rig.got(2);
    assert.equal(rig.receiver.delivered[1]!.body.data.run_id, second);
  });

  it('are sent again to a receiver that was away, and dropped when it does not want one', async () => {
    await using rig = await Rig.start();
    await rig.subscribe('run.ended');
    rig.receiver.status = 503;
    const runs = [await rig.run(), await rig.run()];
    const status = async () => (await rig.subscribe('run.ended')).deliveryStatus;
    while ((await status()).lastError !== 'http_5xx');
    rig.receiver.status = 204;
    // A refresh tries at once.
    await rig.subscribe('run.ended');
    await rig.got(2);
    assert.deepEqual(
      rig.receiver.delivered.map(({ body }) => body.data.run_id),
      runs,
    );
    rig.receiver.status = 410;
    const before = rig.receiver.refused;
    await rig.run();
    await until(() => rig.receiver.refused > before);
    rig.receiver.status = 204;
    const last = await rig.run();
    await rig.got(3);
    assert.equal(rig.receiver.delivered[2]!.body.data.run_id, last);
  });

  it('are refused for addresses and secrets that are not allowed, and reach no address that is not', async () => {
    await using rig = await Rig.start();
    const { port } = rig.receiver;
    const refusals: [delivery: object, code: number][] = [
      [{ url: `http://${HOOK_HOST}:${port}/hook` }, -32602],
      [{ url: `https://user:pass@${HOOK_HOST}:${port}/hook` }, -32602],
      [{ url: 'not an address' }, -32602],
      [{ secret: 'whsec_c2hvcnQ=' }, -32602],
      [{ secret: 'a secret' }, -32602],
      [{ url: `https://127.0.0.1:${port}/hook` }, -32012],
      [{ url: `https://${HOOK_HOST}/hook` }, -32012],
      [{ url: 'https://169.254.169.254/latest' }, -32012],
      [{ mode: 'pigeon' }, -32014],
    ];
    for (const [delivery, code] of refusals)
      assert.equal((await rig.subscribe('run.ended', {}, delivery)).code, code, JSON.stringify(delivery));
    assert.equal((await rig.subscribe('run.nothing')).code, -32011);
    assert.equal((await rig.subscribe('run.ended', { cursor: 'none' })).code, -32602);
    assert.equal(rig.receiver.connections, 0);
    // The control: the same with the right address and secret.
    assert.match((await rig.subscribe('run.ended')).id, /^sub_/);
  });

  it('reach no private address behind an allowed name, unless the configuration opens it', async () => {
    await using rig = await Rig.start((security) => {
      security['allow_private_egress'] = [];
    });
    const { code, data } = await rig.subscribe('run.ended');
    assert.deepEqual([code, data.reason], [-32015, 'connection_refused']);
    assert.equal(rig.receiver.connections, 0);
  });

  it('need a certificate of the host, an echo of the challenge, and no redirect', async () => {
    {
      await using wrong = await Rig.start(() => {}, 'other.test.example');
      const { code, data } = await wrong.subscribe('run.ended');
      assert.deepEqual([code, data.reason], [-32015, 'tls_error']);
    }
    await using rig = await Rig.start();
    rig.receiver.echo = () => '{"challenge":"another one"}';
    const { code, data } = await rig.subscribe('run.ended');
    assert.deepEqual([code, data.reason], [-32015, 'challenge_failed']);
    await rig.run();
    rig.receiver.echo = (challenge) => JSON.stringify({ challenge });
    await rig.subscribe('run.ended');
    rig.receiver.status = 307;
    await rig.run();
    while ((await rig.subscribe('run.ended')).deliveryStatus.lastError !== 'http_4xx');
    assert.ok(rig.receiver.refused > 0);
    assert.deepEqual(rig.receiver.delivered, []);
  });

  it('end when the client unsubscribes, and belong to one client', async () => {
    await using rig = await Rig.start();
    const { id } = await rig.subscribe('run.ended');
    const { url } = rig.receiver;
    const unsubscribe = (client: string) =>
      rig.ask('events/unsubscribe', { name: 'run.ended', delivery: { url } }, client);
    assert.equal((await unsubscribe('another')).code, -32011);
    await rig.run();
    await rig.got(1);
    assert.equal((await unsubscribe('hooked')).code, undefined);
    assert.equal((await unsubscribe('hooked')).code, -32011);
    await rig.run();
    const { cursor } = rig.receiver.delivered[0]!.body;
    // It comes back with the cursor, and what was missed with it.
    const again = await rig.subscribe('run.ended', { cursor });
    assert.equal(again.id, id);
    await rig.got(2);
  });

  it('are signed with both secrets for a while after a change', async () => {
    await using rig = await Rig.start();
    await rig.subscribe('run.ended');
    const secret = `whsec_${Buffer.from('another key that only tests use.').toString('base64')}`;
    await rig.subscribe('run.ended', {}, { secret });
    await rig.run();
    // The receiver still verifies with the first one.
    await rig.got(1);
    assert.equal(rig.receiver.delivered[0]!.signatures, 2);
  });

  it('end with a last message when the policy takes the right to read from the client', async () => {
    await using rig = await Rig.start();
    await rig.subscribe('run.ended');
    rig.project.write('.acor/policy.yaml', '{"who_may":{"read":["user"]}}\n');
    await rig.run();
    await rig.got(1);
    const { body } = rig.receiver.delivered[0]!;
    assert.deepEqual([body.type, body.error.code], ['terminated', -32012]);
    assert.equal(body.data, undefined);
    assert.equal((await rig.subscribe('run.ended')).code, -32012);
  });
});
