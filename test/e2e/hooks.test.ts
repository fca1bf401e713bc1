import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { TestProject, until } from '../support/project.ts';

describe('acor hook', () => {
  let project: TestProject;
  before(() => {
    project = new TestProject({ tools: ['right_hash', 'asks', 'asks_user', 'exits_with'] });
  });
  after(() => project[Symbol.dispose]());

  /** Starts a hook as an agent does, and returns its answer; null means no opinion. */
  async function hook(event: string, input: object | string, cwd = project.root) {
    const stdin = typeof input === 'string' ? input : JSON.stringify({ cwd, ...input });
    const { code, stdout, stderr } = await project.acor(['hook', event], { stdin, cwd });
    assert.equal(code, 0, stderr);
    return { answer: stdout === '' ? null : JSON.parse(stdout), stderr };
  }
  const config = (security: string, answers = '[]') =>
    project.write('.acor/config.yaml', `version: 1\nsecurity: { ${security} }\nanswers: ${answers}\n`);

  it('gives an agent, at the start of its session, the tools, the waiting runs and the recent failures', async () => {
    const failing = await project.run(['exits_with', '--code', '30']);
    const asking = await project.acor(['run', 'asks', '--detach']);
    const { run_id } = JSON.parse(asking.stdout).data;
    await until(() => project.record(run_id)?.state === 'waiting_ai');
    const { answer } = await hook('session-start', { hook_event_name: 'SessionStart', source: 'startup' });
    assert.deepEqual(Object.keys(answer), ['hookSpecificOutput']);
    const { hookEventName, additionalContext: text } = answer.hookSpecificOutput;
    assert.equal(hookEventName, 'SessionStart');
    assert.match(text, /`acor run right_hash \[args…\]` Makes two artifacts/);
    assert.ok(text.includes(`- ${run_id} asks: choose_speed`), text);
    assert.ok(text.includes(`- ${failing.end.run_id} exits_with: `), text);
    await project.run(['exits_with', '--code', '0']);
    await project.acor(['answer', run_id, '--choice', 'fast']);
    await project.acor(['wait', run_id]);
    const { answer: later } = await hook('session-start', { hook_event_name: 'SessionStart' });
    const { additionalContext } = later.hookSpecificOutput;
    assert.ok(
      !additionalContext.includes(run_id) && !additionalContext.includes('Failed in the last'),
      additionalContext,
    );
  });

  it('names the runs that continue, and those that were cancelled', async () => {
    using busy = new TestProject();
    busy.write('tools/hangs/cli.sh', '#!/bin/bash\nsleep 600 & wait\n', 0o755);
    const { run_id } = JSON.parse((await busy.acor(['run', 'hangs', '--detach'])).stdout).data;
    const contextNow = async () => {
      const { answer } = await hook('session-start', { hook_event_name: 'SessionStart' }, busy.root);
      return answer.hookSpecificOutput.additionalContext;
    };
    assert.match(await contextNow(), new RegExp(`Runs that continue now.*\\n\\n- ${run_id} hangs`));
    await busy.acor(['cancel', run_id]);
    const text = await contextNow();
    assert.match(text, new RegExp(`Cancelled in the last 24 hours\\n\\n- ${run_id} hangs`));
    assert.doesNotMatch(text, /Runs that continue/);
  });

  it('blocks a shell command that starts a tool directly when the project forbids it, and names the replacement', async () => {
    config('direct_calls: deny');
    const call = { tool_name: 'Bash', tool_input: { command: 'cd tools && bash right_hash/cli.sh "a b"' } };
    const { answer } = await hook('pre-tool', { hook_event_name: 'PreToolUse', ...call });
    const { permissionDecisionReason: why, ...decision } = answer.hookSpecificOutput;
    assert.deepEqual(decision, { hookEventName: 'PreToolUse', permissionDecision: 'deny' });
    assert.deepEqual(Object.keys(answer), ['hookSpecificOutput']);
    assert.match(why, /Instead: acor run right_hash 'a b'$/);
    const computed = { command: 'bash tools/right_hash/cli.sh --a "$X" --b $(date +%s)' };
    const known = await hook('pre-tool', { hook_event_name: 'BeforeTool', tool_input: computed });
    assert.match(known.answer.reason, /Instead, put acor run right_hash in place of what starts the tool/);
    const gemini = await hook('pre-tool', { hook_event_name: 'BeforeTool', ...call });
    assert.deepEqual(gemini.answer, { decision: 'deny', reason: why });
    const words = {
      hook_event_name: 'PreToolUse',
      tool_input: { command: ['bash', 'tools/right_hash/cli.sh'] },
    };
    assert.equal((await hook('pre-tool', words)).answer.hookSpecificOutput.permissionDecision, 'deny');
    for (const command of ['acor run right_hash', 'cat tools/right_hash/cli.sh', 'true'])
      assert.equal((await hook('pre-tool', { ...words, tool_input: { command } })).answer, null, command);
    assert.equal((await hook('pre-tool', { ...words, tool_input: { file_path: 'x' } })).answer, null);
    // The control: the same call in a project that does not forbid it.
    config('isolation: preferred');
    assert.equal((await hook('pre-tool', { hook_event_name: 'PreToolUse', ...call })).answer, null);
  });

  it('also blocks a command that reaches the entry of a tool by another path, where links are on the way', async () => {
    using linked = new TestProject({ config: 'version: 1\nsecurity: { direct_calls: deny }\n' });
    linked.write('tools/linked/versions/2.sh', '#!/bin/bash\n', 0o755);
    linked.write('tools/linked/tool.yaml', 'name: linked\nversion: 1.0.0\n');
    symlinkSync('versions/2.sh', linked.path('tools', 'linked', 'cli.sh'));
    linked.write('tools/plain/cli.sh', '#!/bin/bash\n', 0o755);
    const alias = project.path('alias');
    symlinkSync(linked.root, alias);
    for (const root of [linked.root, alias]) {
      for (const path of ['linked/versions/2.sh', 'linked/cli.sh', 'plain/cli.sh']) {
        const call = { hook_event_name: 'PreToolUse', tool_input: { command: `bash tools/${path}` } };
        const { answer } = await hook('pre-tool', call, root);
        assert.equal(answer?.hookSpecificOutput.permissionDecision, 'deny', path);
      }
    }
  });

  it('answers a dialog of its own server by a rule that was written while the run waits', async () => {
    const { stdout } = await project.acor(['run', 'asks', '--detach']);
    const { run_id } = JSON.parse(stdout).data;
    await until(() => project.record(run_id)?.state === 'waiting_ai');
    const dialog = {
      hook_event_name: 'Elicitation',
      mcp_server_name: 'acor',
      message: 'asks asks: choose_speed ({"files":3})',
      requested_schema: {
        type: 'object',
        properties: { answer: { type: 'string', enum: ['slow', 'fast'] } },
      },
    };
    assert.equal((await hook('elicit', dialog)).answer, null, 'no rule');
    config('isolation: preferred', '[{ action: choose_speed, answer: nonsense }]');
    assert.equal((await hook('elicit', dialog)).answer, null, 'a rule whose answer does not fit');
    config('isolation: preferred', '[{ action: choose_speed, tool: asks, answer: slow }]');
    assert.deepEqual((await hook('elicit', dialog)).answer, {
      hookSpecificOutput: { hookEventName: 'Elicitation', action: 'accept', content: { answer: 'slow' } },
    });
    for (const other of [
      { mcp_server_name: 'other' },
      { message: 'asks asks: something else' },
      { message: undefined },
    ])
      assert.equal((await hook('elicit', { ...dialog, ...other })).answer, null, JSON.stringify(other));
    // A second tool asks the same question, and the rule is not for it: the dialog does not say which tool asks.
    const { data: other } = await project.envelope(['run', 'asks_user', '--detach']);
    await until(() => project.record(other.run_id)?.state === 'waiting_ai');
    assert.equal((await hook('elicit', dialog)).answer, null, 'two questions, one rule');
    await project.acor(['cancel', other.run_id]);
    assert.notEqual((await hook('elicit', dialog)).answer, null);
    await project.acor(['cancel', run_id]);
    assert.equal((await hook('elicit', dialog)).answer, null, 'nothing is asked any more');
  });

  it('never blocks an agent: every error becomes no opinion, with a note on stderr', async () => {
    const start = { hook_event_name: 'SessionStart' };
    for (const [event, input] of [
      ['session-start', ''],
      ['session-start', '[]'],
      ['session-start', '{"hook_event_name":7}'],
      ['pre-tool', '\u0000'],
      ['no-such-event', start],
      ['__proto__', start],
      ['pre-tool', { hook_event_name: 'PreToolUse', tool_input: { command: 'x' }, cwd: '/nowhere/at/all' }],
    ] as const) {
      const { answer, stderr } = await hook(event, input);
      assert.equal(answer, null);
      if (event !== 'pre-tool' || input === '\u0000')
        assert.match(stderr, new RegExp(`acor hook ${event}: no opinion: .`));
    }
    using broken = new TestProject({ config: 'no_such_key: 1\n' });
    const input = { hook_event_name: 'PreToolUse', tool_input: { command: 'x' } };
    const { answer, stderr } = await hook('pre-tool', input, broken.root);
    assert.deepEqual([answer, /no_such_key/.test(stderr)], [null, true]);
    using empty = new TestProject();
    assert.equal(
      (await hook('session-start', start, empty.root)).answer,
      null,
      'a project without tools and runs',
    );
  });
});
