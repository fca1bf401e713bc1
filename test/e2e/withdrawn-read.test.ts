import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import * as z from 'zod';
import { AcorClient, HttpFailure } from '../../src/client/index.ts';
import { ProjectHost } from '../../src/operations/project-host.ts';
import { TestServer, TestStream, TOKEN } from '../support/http-server.ts';
import { type Answer, callOf, connectTo } from '../support/mcp-client.ts';
import { TestProject, until } from '../support/project.ts';

const OTHER = 'a-token-of-the-reviewer';
const ANYTHING = z.looseObject({});

let project: TestProject;
let server: TestServer;
/** Waits for an answer, so that it has no further event. */
let silent: string;
/** Writes events without end. */
let busy: string;
before(async () => {
  project = new TestProject({ tools: ['asks', 'heeds_cancel', 'quick'] });
  project.write('reviewer-token', `${OTHER}\n`, 0o600);
  server = await TestServer.start(project, ['--client', `reviewer=${project.path('reviewer-token')}`]);
  silent = (await project.envelope(['run', 'asks', '--detach'])).data.run_id;
  busy = (await project.envelope(['run', 'heeds_cancel', '--detach'])).data.run_id;
  await until(() => project.record(silent)?.state === 'waiting_ai');
});
afterEach(() => policy({}));
after(async () => {
  for (const run of [silent, busy]) await project.envelope(['cancel', run]);
  await server.stop();
  await project.supervisorsExited();
  project[Symbol.dispose]();
});

function policy(rules: Record<string, readonly string[]>): void {
  project.write('.acor/policy.yaml', `${JSON.stringify({ who_may: rules })}\n`);
}

/** The lines of the events of a run, as they come. */
async function* linesOf(run: string, token: string): AsyncGenerator<Answer> {
  const stop = new AbortController();
  const answer = await fetch(new URL(`api/v1/runs/${run}/events?follow=true`, server.url), {
    headers: { Authorization: `Bearer ${token}` },
    signal: stop.signal,
  });
  let rest = '';
  try {
    for await (const text of answer.body!.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split('\n');
      rest = lines.pop()!;
      for (const line of lines) yield JSON.parse(line);
    }
  } finally {
    stop.abort();
  }
}

describe('a follower of a run whose right to read is withdrawn', () => {
  for (const [kind, runOf] of [
    ['a run that writes events', () => busy],
    ['a run without a further event', () => silent],
  ] as const)
    it(`gets the refusal as the last line of the events of ${kind}, and another caller goes on`, async () => {
      const other = linesOf(busy, OTHER);
      await other.next();
      const lines = linesOf(runOf(), TOKEN);
      await lines.next();
      policy({ read: ['token:reviewer'] });
      let last: Answer;
      for await (const line of lines) last = line;
      assert.deepEqual([last.ok, last.error?.code], [false, 'E_POLICY_DENIED'], JSON.stringify(last));
      assert.match(last.error.message, /may not read/);
      const after = Number(project.events(busy).at(-1)!.seq);
      for await (const { seq } of other) if (seq > after) break;
    });

  it('gets the refusal as the last server-sent event', async () => {
    const stream = new TestStream(server, `/api/v1/runs/${silent}/events`);
    await until(() => stream.messages.length > 0);
    policy({ read: [] });
    await until(() => stream.messages.at(-1)?.event === 'failure');
    const { data } = stream.messages.at(-1) as { data: { error: { code: string } } };
    assert.equal(data.error.code, 'E_POLICY_DENIED');
  });

  it('gets it as the last message of the stream of changes, and another caller goes on', async () => {
    const stream = new TestStream(server, '/api/v1/stream');
    const other = new TestStream(server, '/api/v1/stream', { Authorization: `Bearer ${OTHER}` });
    await until(() => stream.messages.length > 0 && other.messages.length > 0);
    policy({ read: ['token:reviewer'] });
    const { data } = await project.envelope(['run', 'quick', '--no-stream'], { env: { AI_AGENT: 'ci' } });
    await until(() => stream.messages.at(-1)?.event === 'failure');
    assert.ok(!JSON.stringify(stream.messages).includes(data.run_id));
    await until(() => JSON.stringify(other.messages).includes(data.run_id));
    other.leave();
  });

  it('gets it as the error of the client, which does not connect again and again', async () => {
    const client = new AcorClient({ url: server.url, token: TOKEN });
    const events = client.events(silent);
    await events.next();
    policy({ read: [] });
    await assert.rejects(
      async () => {
        for await (const event of events) assert.ok(event.seq, JSON.stringify(event));
      },
      (error) => error instanceof HttpFailure && error.status === 403,
    );
  });

  for (const [operation, input] of [
    ['run.logs', { follow: true }],
    ['run.attach', {}],
    ['run.wait', { until: 'ending' }],
  ] as const)
    it(`gets it from ${operation}`, async () => {
      let checks = 0;
      let isWithdrawn = false;
      const authorize = () => {
        checks++;
        return isWithdrawn ? ({ allowed: false, why: 'it was withdrawn' } as const) : { allowed: true };
      };
      const host = new ProjectHost({
        cwd: project.root,
        env: project.environment(),
        surface: 'http',
        authorize: authorize as never,
      });
      const open = host.openFor({ kind: 'token', name: 'ada' });
      const { signal } = new AbortController();
      const answer = open.call(operation, { run: busy, ...input }, { signal });
      // The first one is that of the call.
      await until(() => checks > 1);
      isWithdrawn = true;
      const { error } = (await answer) as { error?: { code: string; message: string } };
      assert.deepEqual([error?.code, /it was withdrawn/.test(error?.message ?? '')], ['E_PERMISSION', true]);
      host.close();
    });

  it('gets it from a command', async () => {
    const running = project.start(['attach', busy, '--stream'], { env: { AI_AGENT: 'planner' } });
    let lines = '';
    running.child.stdout!.on('data', (text) => {
      lines += text;
    });
    await until(() => lines !== '');
    policy({ read: ['user'] });
    const { code } = await running.finished;
    assert.equal(code, 2);
    assert.equal(JSON.parse(lines.trimEnd().split('\n').at(-1)!).error?.code, 'E_POLICY_DENIED');
  });

  it('gets it as the end of a request for events over MCP', async () => {
    const client = await connectTo(project, { name: 'planner' });
    try {
      let isActive = false;
      const active = { params: ANYTHING };
      client.setNotificationHandler('notifications/events/active', active, () => {
        isActive = true;
      });
      const stream = client.request({ method: 'events/stream', params: { name: 'run.ended' } }, ANYTHING, {
        timeout: 600_000,
      });
      const ended = assert.rejects(stream, { code: -32012, message: /E_POLICY_DENIED/ });
      await until(() => isActive);
      policy({ read: ['user'] });
      await project.envelope(['run', 'quick', '--no-stream']);
      await ended;
      // The control: the server goes on for what needs no right.
      assert.equal((await callOf(client, 'acor_wait', { run: busy })).error.code, 'E_POLICY_DENIED');
    } finally {
      await client.close();
    }
  });
});
