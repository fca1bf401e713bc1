import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Client } from '@modelcontextprotocol/client';
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as z from 'zod';
import { type Answer, callOf, connectTo, ERAS } from '../support/mcp-client.ts';
import { startHttp, TOKEN } from '../support/mcp-server.ts';
import { TestProject, until } from '../support/project.ts';

const ANYTHING = z.looseObject({});
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const EVENTS = 'io.modelcontextprotocol/events';

function ask(client: Client, method: string, params: object = {}): Promise<Answer> {
  return client.request({ method, params: { ...params } }, ANYTHING);
}

function makeProject(): TestProject {
  const project = new TestProject({ tools: ['asks', 'quick'] });
  const steps = [10, 40, 90].map(
    (pct) => `echo '{"type":"progress","step":"work","pct":${pct},"msg":"part"}'\n`,
  );
  project.write(
    'tools/works/cli.sh',
    `#!/bin/bash\n${steps.join('')}echo '{"type":"result","status":"ok"}'\n`,
    0o755,
  );
  return project;
}

for (const era of ERAS) {
  describe(`events of runs, for a client of ${era === 'legacy' ? 'before' : 'since'} 2026-07-28`, () => {
    let project: TestProject;
    let client: Client;
    before(async () => {
      project = makeProject();
      client = await connectTo(project, { era });
    });
    after(async () => {
      await client.close();
      project[Symbol.dispose]();
    });

    const poll = (name: string, more: object = {}) => ask(client, 'events/poll', { name, ...more });

    it('are declared, and listed with their schemas', async () => {
      assert.ok(EVENTS in (client.getServerCapabilities()?.extensions ?? {}));
      const { events } = await ask(client, 'events/list');
      assert.deepEqual(events.map(({ name }: Answer) => name).sort(), [
        'run.ended',
        'run.progress',
        'run.question',
      ]);
      for (const { delivery, inputSchema, payloadSchema } of events) {
        assert.deepEqual(delivery, ['poll', 'push']);
        assert.deepEqual([inputSchema.type, payloadSchema.type], ['object', 'object']);
      }
    });

    it('are polled from a cursor: none before it, each once, and they fit their schema', async () => {
      await callOf(client, 'quick');
      const start = await poll('run.ended');
      assert.deepEqual([start.events, start.truncated, start.hasMore], [[], false, false]);
      assert.ok(start.nextPollMs >= 1000);
      const asked = await callOf(client, 'asks');
      const question = await poll('run.question', { cursor: start.cursor });
      assert.deepEqual(
        question.events.map(({ data }: Answer) => [data.run_id, data.action_id, data.options.length]),
        [[asked.run_id, 'a-1', 2]],
      );
      assert.deepEqual((await poll('run.question', { cursor: question.cursor })).events, []);
      assert.deepEqual((await poll('run.ended', { cursor: start.cursor })).events, []);
      await callOf(client, 'acor_answer', { run: asked.run_id, choice: 'fast' });
      await callOf(client, 'acor_wait', { run: asked.run_id });
      await callOf(client, 'works');
      const ended = await poll('run.ended', { cursor: start.cursor });
      assert.deepEqual(
        ended.events.map(({ data }: Answer) => [data.tool, data.state]),
        [
          ['asks', 'completed'],
          ['works', 'completed'],
        ],
      );
      const progress = await poll('run.progress', { cursor: start.cursor, arguments: { tool: 'works' } });
      assert.deepEqual(
        progress.events.map(({ data }: Answer) => data.pct),
        [90],
      );
      const { events: types } = await ask(client, 'events/list');
      const ajv = new Ajv2020({ strict: false });
      for (const { name, data } of [...question.events, ...ended.events, ...progress.events]) {
        const { payloadSchema } = types.find((each: Answer) => each.name === name);
        assert.ok(ajv.validate(payloadSchema, data), `${name}: ${ajv.errorsText()}`);
      }
    });

    it('come in parts of the size that a client asks for, without a gap or a repetition', async () => {
      const { cursor } = await poll('run.ended');
      for (let each = 0; each < 5; each++) await callOf(client, 'quick');
      const whole = await poll('run.ended', { cursor });
      const ids: string[] = [];
      let page = await poll('run.ended', { cursor, maxEvents: 2 });
      for (; ; page = await poll('run.ended', { cursor: page.cursor, maxEvents: 2 })) {
        ids.push(...page.events.map(({ eventId }: Answer) => eventId));
        if (!page.hasMore) break;
      }
      assert.deepEqual(
        ids,
        whole.events.map(({ eventId }: Answer) => eventId),
      );
      assert.equal(ids.length, 5);
      assert.deepEqual((await poll('run.ended', { cursor: page.cursor })).events, []);
      const old = await poll('run.ended', { cursor, maxAgeMs: 0 });
      assert.deepEqual([old.events, old.truncated], [[], true]);
      const one = whole.events[1].data.run_id;
      const filtered = await poll('run.ended', { cursor, arguments: { run: one } });
      assert.deepEqual(
        filtered.events.map(({ data }: Answer) => data.run_id),
        [one],
      );
    });

    it('survive the server: another one goes on from the cursor', async () => {
      const { cursor } = await poll('run.ended');
      await callOf(client, 'quick');
      const other = await connectTo(project, { era });
      const { events } = await ask(other, 'events/poll', { name: 'run.ended', cursor });
      assert.equal(events.length, 1);
      await other.close();
    });

    it('are refused with the codes of the specification', async () => {
      await assert.rejects(poll('run.nothing'), { code: -32011 });
      await assert.rejects(poll('run.ended', { arguments: { nope: 1 } }), { code: -32602 });
      await assert.rejects(poll('run.ended', { cursor: 'no cursor' }), { code: -32602 });
      await assert.rejects(ask(client, 'events/stream', { name: 'run.nothing' }), { code: -32011 });
    });

    it('are pushed as they happen, until the client cancels', async () => {
      const got: Answer[] = [];
      for (const kind of ['active', 'event'])
        client.setNotificationHandler(
          `notifications/events/${kind}`,
          { params: ANYTHING },
          (params) => void got.push({ kind, ...params }),
        );
      const stop = new AbortController();
      const stream = client.request({ method: 'events/stream', params: { name: 'run.question' } }, ANYTHING, {
        signal: stop.signal,
        timeout: 600_000,
      });
      stream.catch(() => {});
      await until(() => got.length > 0);
      const [{ kind, cursor, truncated, _meta }] = got;
      assert.deepEqual([kind, truncated, typeof cursor], ['active', false, 'string']);
      const asked = await callOf(client, 'asks');
      await until(() => got.length > 1);
      assert.deepEqual(
        [got[1].kind, got[1].name, got[1].data.run_id],
        ['event', 'run.question', asked.run_id],
      );
      assert.equal(got[1]._meta[SUBSCRIPTION], _meta[SUBSCRIPTION]);
      assert.deepEqual((await poll('run.question', { cursor: got[1].cursor })).events, []);
      stop.abort('enough');
      await assert.rejects(stream);
      await callOf(client, 'acor_answer', { run: asked.run_id, choice: 'fast' });
      const again = await callOf(client, 'asks');
      await callOf(client, 'acor_cancel', { run: again.run_id });
      assert.equal(got.length, 2);
    });
  });
}

describe('events of runs over HTTP', () => {
  it('are pushed in the response of the request, and end when the client closes it', async () => {
    using project = makeProject();
    const { running, url } = await startHttp(project);
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'wire', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const stop = new AbortController();
    const response = await fetch(url, {
      method: 'POST',
      signal: stop.signal,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'events/stream',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 7,
        method: 'events/stream',
        params: { name: 'run.ended', _meta },
      }),
    });
    assert.match(response.headers.get('content-type') ?? '', /event-stream/);
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = '';
    const readUntil = async (pattern: RegExp) => {
      while (!pattern.test(text)) text += (await reader.read()).value;
    };
    await readUntil(/events\/active/);
    const { data } = await project.envelope(['run', 'quick', '--no-stream']);
    await readUntil(new RegExp(`events/event.*${data.run_id}`));
    assert.match(text, /"io.modelcontextprotocol\/subscriptionId":7/);
    stop.abort();
    running.child.kill();
    await running.finished;
  });
});

describe('the skills of a project', () => {
  for (const era of ERAS)
    it(`are listed with digests, and their files are resources (${era === 'legacy' ? 'before' : 'since'} 2026-07-28)`, async () => {
      using project = makeProject();
      const client = await connectTo(project, { era });
      assert.ok('io.modelcontextprotocol/skills' in (client.getServerCapabilities()?.extensions ?? {}));
      assert.deepEqual((await ask(client, 'skills/list')).skills, []);
      const text = '---\nname: release\ndescription: How to make a release.\n---\nSee [the list](list.md).\n';
      project.write('.acor/skills/release/SKILL.md', text);
      project.write('.acor/skills/release/list.md', '- one\n');
      project.write('.acor/skills/broken/SKILL.md', 'no front matter\n');
      const { skills } = await ask(client, 'skills/list');
      assert.deepEqual(
        skills.map(({ uri, frontmatter }: Answer) => [uri, frontmatter.name]),
        [['skill://release/SKILL.md', 'release']],
      );
      const { skill } = await ask(client, 'skills/get', { uri: 'skill://release/SKILL.md' });
      assert.deepEqual(skill, skills[0]);
      assert.deepEqual(
        skill.resources.map(({ uri }: Answer) => uri),
        ['skill://release/SKILL.md', 'skill://release/list.md'],
      );
      const { contents } = await client.readResource({ uri: 'skill://release/list.md' });
      assert.deepEqual(contents, [
        { uri: 'skill://release/list.md', mimeType: 'text/markdown', text: '- one\n' },
      ]);
      const { resources } = await client.listResources();
      assert.ok(resources.some(({ uri }) => uri === 'skill://release/SKILL.md'));
      await assert.rejects(ask(client, 'skills/get', { uri: 'skill://broken/SKILL.md' }), { code: -32602 });
      for (const uri of ['skill://release/../../config.yaml', 'skill://broken/SKILL.md'])
        await assert.rejects(client.readResource({ uri }), { code: -32602 });
      await client.close();
    });
});
