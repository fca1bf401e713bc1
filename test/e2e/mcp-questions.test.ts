import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import type { Client } from '@modelcontextprotocol/client';
import { loseRun } from '../support/lose-run.ts';
import { callOf as call, connectTo } from '../support/mcp-client.ts';
import { TestProject, until } from '../support/project.ts';

const question = (more: object) => ({
  type: 'action_required',
  action: 'go',
  action_id: 'q',
  blocking: true,
  context: {},
  ...more,
});
const SCHEMA = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };
const ASKING: Readonly<Record<string, object>> = {
  asks_schema: question({ schema: SCHEMA }),
  asks_freely: question({}),
  asks_choice: question({ options: [{ id: 'left' }, { id: 'right' }] }),
};

describe('a question over MCP', () => {
  let project: TestProject;
  let client: Client;
  before(async () => {
    project = new TestProject();
    for (const [tool, event] of Object.entries(ASKING)) {
      project.write(`tools/${tool}/tool.yaml`, `name: ${tool}\nversion: 1.0.0\nactions: [go]\n`);
      project.write(
        `tools/${tool}/cli.sh`,
        `#!/bin/bash\necho '${JSON.stringify(event)}'\nread -r answer\necho '{"type":"result","status":"ok"}'\n`,
        0o755,
      );
    }
    project.write('tools/hangs/cli.sh', '#!/bin/bash\ntouch here\nsleep 600 & wait\n', 0o755);
    client = await connectTo(project);
  });
  const marks = (name: string, text: string) => {
    project.write(`tools/${name}/tool.yaml`, `name: ${name}\nversion: 1.0.0\nadapter: markers\n`);
    project.write(`tools/${name}/cli.sh`, `#!/bin/bash\nprintf '${text}'\n`, 0o755);
  };
  after(async () => {
    await client.close();
    project[Symbol.dispose]();
  });

  for (const [tool, missing] of [
    ['asks_schema', SCHEMA],
    ['asks_freely', {}],
  ] as const)
    it(`that only the caller can answer has a call that lacks its value (${tool})`, async () => {
      const { next, run_id: run } = await call(client, tool);
      const lacking = {
        tool: 'acor_answer',
        arguments: { run, action_id: 'q' },
        missing: { value: missing },
      };
      assert.deepEqual(next, [lacking, { tool: 'acor_wait', arguments: { run } }]);
      const none = await call(client, 'acor_answer', { run });
      assert.deepEqual([none.error.code, none.next], ['E_USAGE', [lacking]]);
      assert.match(none.error.message, /the answer to 'q' is missing/);
      if (tool === 'asks_schema') {
        const wrong = await call(client, 'acor_answer', { run, value: { n: 'x' } });
        assert.deepEqual([wrong.error.code, wrong.next], ['E_BAD_ANSWER', [lacking]]);
        assert.ok(wrong.error.hint.includes(JSON.stringify(SCHEMA)), wrong.error.hint);
      }
      await call(client, 'acor_answer', { run, action_id: 'q', value: { n: 1 } });
      assert.equal((await call(client, 'acor_wait', { run: 'last' })).state, 'completed');
    });

  it('names its options when the answer is missing, or of another question', async () => {
    const { run_id: run } = await call(client, 'asks_choice');
    const none = await call(client, 'acor_answer', { run: 'last' });
    assert.match(none.error.hint, /choice, one of: left, right/);
    const choices = ['left', 'right'].map((choice) => ({
      tool: 'acor_answer',
      arguments: { run, action_id: 'q', choice },
    }));
    assert.deepEqual([none.next, none.live_runs], [choices, undefined]);
    const other = await call(client, 'acor_answer', { run, action_id: 'nope', choice: 'left' });
    assert.deepEqual([other.error.code, other.next], ['E_BAD_ANSWER', choices]);
    const both = await call(client, 'acor_answer', { run, choice: 'left', value: 1 });
    assert.match(both.error.message, /choice or value, not both/);
    await call(client, 'acor_answer', { run, choice: 'left' });
    await call(client, 'acor_wait', { run });
    const late = await call(client, 'acor_answer', { run, choice: 'left' });
    assert.deepEqual(late.next, [{ tool: 'acor_show', arguments: { run } }]);
  });

  it('of a program that went on comes with the call that starts it again with answers', async () => {
    marks('asks_on', '[QUESTION] Where?\\nOptions:\\n1. Cookie\\n2. Storage\\n\\n[CODEX_COMPLETE] done\\n');
    const { state, questions, next } = await call(client, 'acor_run', {
      tool: 'asks_on',
      arguments: { args: ['deep'] },
    });
    assert.deepEqual([state, questions[0].action_id], ['completed', 'q-1']);
    const input = { tool: 'asks_on', arguments: { args: ['deep'] } };
    assert.deepEqual(next, [
      { tool: 'acor_run', arguments: { ...input, answers: { 'q-1': 1 } } },
      { tool: 'acor_run', arguments: { ...input, answers: { 'q-1': 2 } } },
    ]);
    const again = await call(client, next[1]!.tool, next[1]!.arguments);
    assert.deepEqual([again.state, again.questions], ['completed', undefined]);
    const { data } = await project.envelope(['decisions', again.run_id]);
    assert.equal(data.decisions[0].answer, '2', JSON.stringify(data));
  });

  it('of a program that exits while it is blocked is in the failure, in the answer of the same call', async () => {
    marks('exits_blocked', '[BLOCKED] Which URL?\\nSee .env\\n\\n[CODEX_COMPLETE] done\\n');
    for (let round = 0; round < 5; round++) {
      const { state, error, questions } = await call(client, 'exits_blocked');
      assert.deepEqual([state, error?.code], ['failed', 'E_ACTION_REQUIRED']);
      assert.deepEqual(questions[0].context, { text: 'See .env' });
    }
  });

  it('is no wish to repeat what a lost run may have done: only the hint has that call', async () => {
    const { data } = await project.envelope(['run', 'hangs', '--detach']);
    const run: string = data.run_id;
    await until(() => existsSync(project.path('.runs', run, 'work', 'here')));
    await project.killSupervisor(run);
    loseRun(project.runsDir, run);
    const { error, next } = await call(client, 'acor_wait', { run });
    assert.deepEqual([error.code, error.retryable, error.class], ['E_RUNNER_LOST', false, 'unknown']);
    assert.deepEqual(next, [{ tool: 'acor_logs', arguments: { run } }]);
    assert.match(error.hint, /may happen twice\. \{"tool":"acor_resume","arguments":\{.*"force":true\}\}/);
  });
});
