import assert from 'node:assert/strict';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import { Client, type ClientOptions } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { ACOR, TestProject, until } from '../support/project.ts';

/** The two eras of the protocol: with a handshake, and without one. */
const ERAS = ['legacy', { pin: '2026-07-28' }] as const;

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

const REVIEW = `---
title: Review
arguments:
  - { name: branch, required: true, values: [main, next] }
  - { name: focus, ask: What should the review look at? }
---
Review {{branch}}, above all {{focus}}.

![a picture](pixel.png)
![the rules](docs://rules.md)
`;

const RESOURCES = [
  { uri: 'docs://{path}', files: '*.md', description: 'The rules.' },
  { uri: 'report://{kind}', tool: 'report' },
  { uri: 'change://{kind}', tool: 'changes' },
  { uri: 'sum://{n}/{twice}/{list}/{text}', tool: 'sums' },
  { uri: 'report://none', tool: 'report' },
  { uri: 'report://{kind}/{nothing}', tool: 'report' },
];

const asked = { type: 'action_required', blocking: true, context: {} };
const forModel = { ...asked, audience: 'model', action: 'name_it', action_id: 'q1', msg: 'A name?' };
const forClient = { ...asked, audience: 'client', action: 'roots', action_id: 'q2' };
const forUser = { ...asked, audience: 'user', action: 'sure', action_id: 'q3', schema: { type: 'boolean' } };

const done = `echo '{"type":"result","status":"ok","data":['"$a,$b,$c"']}'`;
const log = (level: string, msg: string) => `echo '${JSON.stringify({ type: 'log', level, msg })}'`;

const TOOLS: Readonly<Record<string, { manifest: object; script: string }>> = {
  report: {
    manifest: { effects: 'reads', inputs: [{ name: 'kind', required: true, enum: ['sales', 'stock'] }] },
    script: `echo '{"type":"result","status":"ok","data":{"kind":"'"$2"'"}}'`,
  },
  sums: {
    manifest: {
      effects: 'reads',
      inputs: [
        { name: 'n', type: 'int', required: true },
        { name: 'twice', type: 'bool' },
        { name: 'list', type: 'number', multiple: true },
        { name: 'text' },
      ],
    },
    script: `echo '{"type":"result","status":"ok","data":"'"$*"'"}'`,
  },
  changes: { manifest: { effects: 'writes' }, script: 'exit 0' },
  asks_three: {
    manifest: { actions: ['name_it', 'roots', 'sure'] },
    script: `printf '%s\\n' '${JSON.stringify(forModel)}' '${JSON.stringify(forClient)}' '${JSON.stringify(forUser)}'\nread -r a\nread -r b\nread -r c\n${done}`,
  },
  asks_model: {
    manifest: { actions: ['pick'] },
    script: `echo '${JSON.stringify({ ...forModel, options: [{ id: 'x' }, { id: 'y' }] })}'\nread -r a\nb=1\nc=1\n${done}`,
  },
  needs_model: { manifest: { requires: ['sampling', 'roots'] }, script: 'exit 0' },
  talks: {
    manifest: {},
    script: `${log('debug', 'small')}\n${log('warn', 'large')}\necho '{"type":"result","status":"ok"}'`,
  },
  chatters: {
    manifest: { adapter: 'plain' },
    script: 'for i in {1..500}; do echo "line $i"; done',
  },
  broken: { manifest: { timeout_s: 'soon' }, script: 'exit 0' },
};

describe('what a project publishes over MCP', () => {
  let project: TestProject;
  let clients: Client[] = [];
  before(() => {
    project = new TestProject();
    for (const [tool, { manifest, script }] of Object.entries(TOOLS)) {
      project.write(
        `tools/${tool}/tool.yaml`,
        `${JSON.stringify({ name: tool, version: '1.0.0', ...manifest })}\n`,
      );
      project.write(`tools/${tool}/cli.sh`, `#!/bin/bash\n${script}\n`, 0o755);
    }
    project.write('.acor/config.yaml', `resources: ${JSON.stringify(RESOURCES)}\n`);
    project.write('.acor/prompts/review.md', REVIEW);
    project.write('rules.md', 'Be kind.\n');
    writeFileSync(project.path('.acor/prompts/pixel.png'), Buffer.from(PNG, 'base64'));
  });
  afterEach(async () => {
    for (const client of clients) await client.close();
    clients = [];
  });
  after(() => project[Symbol.dispose]());

  async function connect(
    era: (typeof ERAS)[number],
    capabilities: ClientOptions['capabilities'] = {},
  ): Promise<Client> {
    const client = new Client(
      { name: 'tester', version: '1' },
      { capabilities, versionNegotiation: { mode: era } },
    );
    const env = {
      PATH: process.env.PATH ?? '',
      HOME: project.root,
      XDG_DATA_HOME: join(project.root, 'data'),
    };
    await client.connect(
      new StdioClientTransport({ command: ACOR, args: ['mcp'], cwd: project.root, env, stderr: 'ignore' }),
    );
    clients.push(client);
    return client;
  }

  // biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever the result holds
  async function call(client: Client, name: string, given: object = {}): Promise<any> {
    const { structuredContent, isError } = await client.callTool({ name, arguments: { ...given } });
    return { ...(structuredContent as object), isError };
  }

  let changes = 0;
  function changeFiles(): void {
    appendFileSync(project.path('rules.md'), 'Be short.\n');
    project.write('.acor/prompts/new.md', `New: ${changes++}.\n`);
  }

  for (const era of ERAS) {
    describe(`to a client of ${era === 'legacy' ? 'before' : 'since'} 2026-07-28`, () => {
      it('are prompts with arguments, files and resources', async () => {
        const client = await connect(era);
        const { prompts } = await client.listPrompts();
        assert.deepEqual(
          prompts.map(({ name }) => name).filter((name) => name !== 'new'),
          ['explain', 'review'],
        );
        assert.equal(prompts.at(-1)!.description, 'Review {{branch}}, above all {{focus}}.');
        const given = { branch: 'main', focus: '{{branch}}' };
        const { messages } = await client.getPrompt({ name: 'review', arguments: given });
        assert.deepEqual(
          messages.map(({ content }) => content),
          [
            { type: 'text', text: 'Review main, above all {{branch}}.' },
            { type: 'image', data: PNG, mimeType: 'image/png' },
            {
              type: 'resource',
              resource: {
                uri: 'docs://rules.md',
                mimeType: 'text/markdown',
                text: readFileSync(project.path('rules.md'), 'utf8'),
              },
            },
          ],
        );
        await assert.rejects(client.getPrompt({ name: 'review' }), /review needs a value for branch/);
        await assert.rejects(client.getPrompt({ name: 'other' }), /no prompt/);
      });

      it('are prompts that ask the user for what is missing, where the client has forms', async () => {
        const client = await connect(era, { elicitation: { form: {} } });
        const questions: string[] = [];
        let answer: object = { action: 'accept', content: { focus: 'the tests' } };
        client.setRequestHandler('elicitation/create', ({ params }) => {
          questions.push(params.message);
          return answer as never;
        });
        const { messages } = await client.getPrompt({ name: 'review', arguments: { branch: 'main' } });
        assert.deepEqual(messages[0]!.content, { type: 'text', text: 'Review main, above all the tests.' });
        assert.deepEqual(questions, ['What should the review look at?']);
        answer = { action: 'decline' };
        const without = await client.getPrompt({ name: 'review', arguments: { branch: 'main' } });
        assert.deepEqual(without.messages[0]!.content, { type: 'text', text: 'Review main, above all .' });
      });

      it('are files, and what tools return that only read', async () => {
        const client = await connect(era);
        for (const cursor of ['nonsense', ''])
          for (const list of ['listTools', 'listResources', 'listResourceTemplates', 'listPrompts'] as const)
            await assert.rejects(client[list]({ cursor }), { code: -32602 }, list);
        const { resources } = await client.listResources();
        const rules = resources.find(({ uri }) => uri === 'docs://rules.md');
        assert.deepEqual([rules?.mimeType, rules?.description], ['text/markdown', 'The rules.']);
        const { resourceTemplates } = await client.listResourceTemplates();
        assert.ok(resourceTemplates.some(({ uriTemplate }) => uriTemplate === 'report://{kind}'));
        const { contents } = await client.readResource({ uri: 'report://sales' });
        assert.deepEqual(contents, [
          { uri: 'report://sales', mimeType: 'application/json', text: '{"kind":"sales"}' },
        ]);
        const sums = await client.readResource({ uri: 'sum://12/true/2.5/007' });
        assert.match(JSON.stringify(sums.contents), /--n 12 --twice --list 2.5 --text 007/);
        await assert.rejects(client.readResource({ uri: 'sum://twelve/true/2.5/x' }), /'n'/);
        await assert.rejects(client.readResource({ uri: 'report://other' }), /'kind'/);
        await assert.rejects(client.readResource({ uri: 'change://x' }), /may change something/);
        await assert.rejects(client.readResource({ uri: 'docs://../etc/passwd' }), /not found/i);
      });

      it('are completed: values of a prompt, and of the input of a tool', async () => {
        const client = await connect(era);
        const complete = async (ref: never, name: string, value: string) =>
          (await client.complete({ ref, argument: { name, value } })).completion.values;
        const prompt = { type: 'ref/prompt', name: 'review' } as never;
        assert.deepEqual(await complete(prompt, 'branch', 'm'), ['main']);
        const template = { type: 'ref/resource', uri: 'report://{kind}' } as never;
        assert.deepEqual(await complete(template, 'kind', 's'), ['sales', 'stock']);
      });

      it('are watched: a changed file, a run and a new prompt are reported', async () => {
        const client = await connect(era);
        const updated = new Set<string>();
        let isChanged = false;
        client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
          updated.add(params.uri);
        });
        client.setNotificationHandler('notifications/prompts/list_changed', () => {
          isChanged = true;
        });
        const { run_id: run } = await call(client, 'asks_three');
        const uris = ['docs://rules.md', `acor://runs/${run}`];
        if (era === 'legacy') for (const uri of uris) await client.subscribeResource({ uri });
        else await client.listen({ promptsListChanged: true, resourceSubscriptions: uris });
        // The server may not watch yet: a change is repeated until it is reported.
        await until(() => {
          changeFiles();
          return updated.has('docs://rules.md') && isChanged;
        });
        await call(client, 'acor_cancel', { run });
        await until(() => updated.has(`acor://runs/${run}`));
        if (era !== 'legacy') return;
        await client.unsubscribeResource({ uri: 'docs://rules.md' });
        updated.clear();
        isChanged = false;
        await until(() => {
          changeFiles();
          return isChanged;
        });
        assert.ok(!updated.has('docs://rules.md'));
      });

      it('puts questions for a model, for the client and for the user to those, all at once', async () => {
        const client = await connect(era, { elicitation: { form: {} }, sampling: {}, roots: {} });
        const prompts: unknown[] = [];
        client.setRequestHandler('sampling/createMessage', ({ params }) => {
          prompts.push(params.messages[0]!.content, params.maxTokens);
          return { role: 'assistant', model: 'm', content: { type: 'text', text: ' Ada ' } };
        });
        client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///work' }] }));
        client.setRequestHandler('elicitation/create', () => ({
          action: 'accept',
          content: { answer: true },
        }));
        const { state, data, run_id: run } = await call(client, 'asks_three');
        assert.equal(state, 'completed');
        const answers = (data as { action_id: string; answer: unknown }[]).map(({ action_id, answer }) => [
          action_id,
          answer,
        ]);
        assert.deepEqual(Object.fromEntries(answers), {
          q1: 'Ada',
          q2: [{ uri: 'file:///work' }],
          q3: true,
        });
        assert.deepEqual(prompts, [{ type: 'text', text: 'A name?' }, 1000]);
        const { decisions } = (await project.envelope(['decisions', run])).data as {
          decisions: { by: string }[];
        };
        assert.deepEqual(decisions.map(({ by }) => by).sort(), ['client', 'model', 'user']);
      });

      it('leaves to the agent what the client cannot answer, and what its model answers wrongly', async () => {
        const client = await connect(era, { sampling: {} });
        client.setRequestHandler('sampling/createMessage', () => ({
          role: 'assistant',
          model: 'm',
          content: { type: 'text', text: 'neither' },
        }));
        const wrong = await call(client, 'asks_model');
        assert.deepEqual([wrong.state, wrong.questions[0].audience], ['waiting_ai', 'model']);
        const { data } = await call(client, 'acor_answer', { run: wrong.run_id, choice: 'x' });
        assert.equal(data.answer, 'x');
        const three = await call(client, 'asks_three');
        assert.equal(three.state, 'waiting_ai');
        assert.deepEqual(
          three.questions.map(({ action_id }: { action_id: string }) => action_id),
          ['q2', 'q3'],
        );
        await call(client, 'acor_cancel', { run: three.run_id });
      });

      it('refuses a tool that requires what the client lacks, with a protocol error', async () => {
        const client = await connect(era, { sampling: {} });
        const refused = { code: -32021 };
        await assert.rejects(call(client, 'needs_model'), refused);
        await assert.rejects(call(client, 'acor_run', { tool: 'needs_model' }), refused);
      });

      it('answers the call of a broken tool with a result that says how to fix it', async () => {
        const { error, isError } = await call(await connect(era), 'broken');
        assert.deepEqual([isError, error.code], [true, 'E_MANIFEST_INVALID']);
        assert.match(error.message, /tool\.yaml:1:\d+/);
      });
    });
  }

  it('sends log messages from the level that the client wants, and none to others', async () => {
    const client = await connect('legacy');
    const messages: unknown[] = [];
    client.setNotificationHandler('notifications/message', ({ params }) => {
      messages.push([params.level, params.logger, params.data]);
    });
    await call(client, 'talks');
    assert.deepEqual(messages, []);
    await client.setLoggingLevel('warning');
    await call(client, 'talks');
    assert.deepEqual(messages, [['warning', 'talks', 'large']]);
    await client.setLoggingLevel('debug');
    messages.length = 0;
    await call(client, 'chatters');
    assert.deepEqual(messages[0], ['info', 'chatters', 'line 1']);
    assert.match(
      JSON.stringify(messages.at(-1)),
      /^\["notice","chatters","\d+ more messages: acor_logs has all/,
    );
    assert.ok(messages.length < 400, `${messages.length} messages`);
  });

  it('runs one call after another under the same supervisor', async () => {
    const client = await connect('legacy');
    const supervisors = new Set<number>();
    for (let calls = 1; calls <= 5; calls++) {
      const { run_id: run } = await call(client, 'talks');
      supervisors.add(project.record(run)!.pid);
      await until(() => project.events(run).at(-1)?.type === 'runner_end');
    }
    // A spare one is kept, and a call may come before the last supervisor is idle again.
    assert.ok(supervisors.size < 4, `${supervisors.size} supervisors for 5 runs`);
  });

  it('are checked by acor validate', async () => {
    project.write('.acor/prompts/wrong.md', 'Where is {{it}}?\n');
    const { error } = await project.envelope(['validate']);
    const rules = (error.details.findings as { rule: string }[])
      .map(({ rule }) => rule)
      .filter((rule) => /prompt|resource/.test(rule));
    assert.deepEqual(rules.sort(), ['prompt-argument', 'resource-input', 'resource-input', 'resource-tool']);
  });
});
