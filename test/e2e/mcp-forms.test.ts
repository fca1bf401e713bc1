import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { Client } from '@modelcontextprotocol/client';
import { callOf as call, connectTo, ERAS } from '../support/mcp-client.ts';
import { TestProject, until } from '../support/project.ts';

const FORMS = { elicitation: { form: {} } };

const ASK_USER = {
  type: 'action_required',
  action: 'say_yes',
  action_id: 'q',
  audience: 'user',
  blocking: true,
  timeout_s: 900,
  default: 'no',
  msg: 'Say yes.',
  context: {},
  schema: { type: 'string', minLength: 2 },
};

const ASK_ID = {
  ...ASK_USER,
  schema: { type: 'string', format: 'uuid', default: 7 },
  default: '3f2b8c1e-0d4a-4e6b-9a57-1c2d3e4f5a6b',
  msg: 'Which id?',
};

const never = () => new Promise<never>(() => {});

describe('a form over MCP', () => {
  let project: TestProject;
  const clients: Client[] = [];
  before(() => {
    project = new TestProject();
    for (const [name, question] of Object.entries({ asks: ASK_USER, identifies: ASK_ID })) {
      project.write(`tools/${name}/tool.yaml`, `name: ${name}\nversion: 1.0.0\nactions: [say_yes]\n`);
      project.write(
        `tools/${name}/cli.sh`,
        `#!/bin/bash\necho '${JSON.stringify(question)}'\nread -r answer\necho '{"type":"result","status":"ok","data":'"$answer"'}'\n`,
        0o755,
      );
    }
  });
  after(async () => {
    for (const client of clients) await client.close();
    project[Symbol.dispose]();
  });

  async function connect(options: Parameters<typeof connectTo>[1]): Promise<Client> {
    const client = await connectTo(project, options);
    clients.push(client);
    return client;
  }

  /** A client whose user never answers; it says which forms it got, and which were withdrawn. */
  async function withoutAnswer(flags: readonly string[] = []) {
    const client = await connect({ capabilities: FORMS, flags });
    const forms: string[] = [];
    let withdrawn = 0;
    client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) => {
      forms.push(params.message);
      mcpReq.signal.addEventListener('abort', () => withdrawn++);
      return never();
    });
    return { client, forms, withdrawn: () => withdrawn };
  }

  async function asking(): Promise<string> {
    const { data } = await project.envelope(['run', 'asks', '--detach']);
    await until(() => project.record(data.run_id)?.state === 'waiting_ai');
    return data.run_id;
  }

  for (const [what, settle, state] of [
    ['its question is answered elsewhere', (run: string) => ['answer', run, '--value', '"yes"'], 'completed'],
    ['its run is cancelled', (run: string) => ['cancel', run], 'cancelled'],
  ] as const)
    it(`is withdrawn when ${what}, and the call answers`, async () => {
      const { client, forms, withdrawn } = await withoutAnswer();
      const run = await asking();
      const answer = call(client, 'acor_wait', { run, timeout: 600 });
      await until(() => forms.length === 1);
      await project.envelope(settle(run));
      assert.equal((await answer).state, state);
      await until(() => withdrawn() === 1);
      assert.match(forms[0]!, /^asks asks: Say yes\./);
    });

  it('is withdrawn at the limit of the call, and of a wait', async () => {
    for (const [flags, given] of [
      [['--call-limit', '0.5'], {}],
      [[], { timeout: 0.5 }],
    ] as const) {
      const { client, forms, withdrawn } = await withoutAnswer(flags);
      const run = await asking();
      const { state, next, questions } = await call(client, 'acor_wait', { run, ...given });
      assert.deepEqual([state, questions[0].action_id], ['waiting_ai', 'q']);
      assert.deepEqual(next.at(-1), { tool: 'acor_wait', arguments: { run } });
      await until(() => withdrawn() === forms.length);
      await call(client, 'acor_cancel', { run });
    }
  });

  it('that fails leaves the question to the agent, with its run', async () => {
    const client = await connect({ capabilities: FORMS });
    for (const handler of [
      () => Promise.reject(new Error('no window')),
      () => Promise.resolve({ action: 'accept', content: { answer: null } }),
      () => Promise.resolve({ action: 'accept', content: {} }),
      () => Promise.resolve({ action: 'accept' }),
    ]) {
      client.setRequestHandler('elicitation/create', handler as never);
      const { isError, state, run_id: run, next, note, questions } = await call(client, 'asks');
      assert.deepEqual([isError, state, questions[0].action_id], [undefined, 'waiting_ai', 'q']);
      assert.equal(next.at(-1).tool, 'acor_wait');
      assert.doesNotMatch(note, /--|Fulfilling/);
      await call(client, 'acor_answer', { run, value: 'yes' });
      assert.equal((await call(client, 'acor_wait', { run })).data.answer, 'yes');
    }
  });

  for (const era of ERAS)
    it(`reaches the user though the question has a format and a default that forms lack (${era === 'legacy' ? 'before' : 'since'} 2026-07-28)`, async () => {
      const client = await connect({ era, capabilities: FORMS });
      const forms: string[] = [];
      const id = '00000000-0000-4000-8000-000000000001';
      client.setRequestHandler('elicitation/create', ({ params }) => {
        forms.push(JSON.stringify(params));
        return { action: 'accept', content: { answer: id } } as const;
      });
      const { state, data } = await call(client, 'identifies');
      assert.deepEqual([state, data?.answer], ['completed', id]);
      assert.match(forms.join(), /Format: uuid\./);
    });

  for (const era of ERAS)
    it(`is for the user alone: an agent without forms is to ask (${era === 'legacy' ? 'before' : 'since'} 2026-07-28)`, async () => {
      const client = await connect({ era });
      const { questions, note, run_id: run } = await call(client, 'asks');
      assert.match(note, /Ask the user/);
      const { timeout_s, default: usual } = questions[0];
      assert.deepEqual([timeout_s, usual], [900, 'no']);
      await call(client, 'acor_cancel', { run });
    });

  it('does not tie a run to a wait: cancelling the wait leaves the run alone', async () => {
    const { client, forms, withdrawn } = await withoutAnswer();
    const run = await asking();
    const stop = new AbortController();
    const waiting = call(client, 'acor_wait', { run }, { signal: stop.signal });
    await until(() => forms.length === 1);
    stop.abort('the user pressed Escape');
    await assert.rejects(waiting);
    await until(() => withdrawn() === 1);
    assert.equal((await call(client, 'acor_wait', { run, timeout: 0.1 })).state, 'waiting_ai');
    await call(client, 'acor_cancel', { run });
  });
});
