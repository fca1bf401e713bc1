import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { parseLines, processesOf, TestProject, until } from '../support/project.ts';

const hasPython = spawnSync('sh', ['-c', 'command -v python3']).status === 0;

describe('a tool that asks', hasPython ? {} : { skip: 'python3 is not here' }, () => {
  let project: TestProject;
  before(() => {
    project = new TestProject({ tools: ['asks', 'heeds_cancel', 'quick', 'waits'] });
  });
  after(() => project[Symbol.dispose]());

  /** Starts the tool as an agent does: the command follows it up to its question. */
  async function askedRun(...args: string[]) {
    const { stdout, stderr, code } = await project.acor(['run', 'asks', ...args]);
    const events = parseLines(stdout);
    return { events, stderr, code, runId: String(events[0]!.run_id) };
  }

  it('makes the command exit with 2 and the exact commands that answer, while the run continues', async () => {
    const { events, code, runId, stderr } = await askedRun();
    assert.equal(code, 2);
    const waiting = events.at(-1)!;
    assert.deepEqual([waiting.type, waiting.to, waiting.action_id], ['runner_state', 'waiting_ai', 'a-1']);
    const expected = [`acor answer ${runId} a-1 --choice slow`, `acor answer ${runId} a-1 --choice fast`];
    assert.deepEqual(waiting.next, expected);
    assert.deepEqual(stderr.trim().split('\n'), expected);
    assert.equal(project.record(runId)!.state, 'waiting_ai');
    assert.ok(processesOf(runId).length > 0);

    const answered = await project.envelope([
      'answer',
      runId,
      'a-1',
      '--choice',
      'fast',
      '--reason',
      'in a hurry',
      '--by',
      'the tester',
    ]);
    assert.deepEqual([answered.code, answered.data.answer], [0, 'fast']);
    const waited = await project.envelope(['wait', runId]);
    assert.deepEqual([waited.code, waited.data.waited, waited.data.state], [0, 'ended', 'completed']);
    assert.deepEqual(waited.data.result.data, { answer: 'fast' });

    const all = project.events(runId);
    assert.deepEqual(
      all.map(({ seq }) => seq),
      all.map((_, index) => index + 1),
    );
    assert.deepEqual(all.slice(0, events.length), events);
    const states = all.filter(({ type }) => type === 'runner_state').map(({ to }) => to);
    assert.deepEqual(states, ['running', 'waiting_ai', 'running', 'completed']);
    const { data } = await project.envelope(['decisions', runId]);
    const [decision] = data.decisions;
    assert.deepEqual(
      [decision.action, decision.answer, decision.by, decision.reason, decision.source, decision.state],
      ['choose_speed', 'fast', 'the tester', 'in a hurry', 'command', 'answered'],
    );
    assert.equal((await project.envelope(['verify', runId])).data.ok, true);
  });

  it('rejects an invalid answer, and its question stays open', async () => {
    const { runId } = await askedRun();
    for (const [args, expected] of [
      [['a-1', '--choice', 'sideways'], /is not an option of/],
      [['a-1', '--value', '{"x":1}'], /is not an option of/],
      [['a-9', '--choice', 'fast'], /has not asked 'a-9'/],
      [['../x', '--choice', 'fast'], /has not asked/],
    ] as const) {
      const { code, error } = await project.envelope(['answer', runId, ...args]);
      assert.deepEqual([code, error.code], [1, 'E_BAD_ANSWER']);
      assert.match(error.message, expected);
    }
    const usage = await project.envelope(['answer', runId, 'a-1']);
    assert.equal(usage.error.code, 'E_USAGE');
    assert.equal(project.record(runId)!.state, 'waiting_ai');
    await project.envelope(['answer', runId, '--choice', 'slow']);
    assert.equal((await project.envelope(['wait', runId])).data.result.data.answer, 'slow');
    const late = await project.envelope(['answer', runId, 'a-1', '--choice', 'fast']);
    assert.match(late.error.message, /has ended/);
  });

  it('is where each command of `next` returns to an agent, in one line', async () => {
    const { runId } = await askedRun();
    const env = { AI_AGENT: 'planner' };
    const { meta } = await project.envelope(['show', runId], { env });
    assert.deepEqual(meta.next.slice(-2), [`acor attach ${runId}`, `acor cancel ${runId}`]);
    for (const command of [
      ['attach', runId],
      ['wait', runId],
    ])
      assert.equal((await project.envelope(command, { env })).error.code, 'E_ACTION_REQUIRED');
    const followed = await project.envelope(['logs', runId, '--follow'], { env });
    assert.deepEqual(followed.data.events, project.events(runId));
    assert.ok(followed.meta.next.includes(`acor answer ${runId} a-1 --choice fast`), followed.meta.next);
    await project.envelope(['answer', runId, '--choice', 'fast']);
    const ended = await project.envelope(['logs', runId, '--follow', '--type', 'runner_end'], { env });
    assert.deepEqual(
      ended.data.events.map(({ type }: { type: string }) => type),
      ['runner_end'],
    );
  });

  it('accepts one of two concurrent answers, and the other caller gets an error', async () => {
    const { runId } = await askedRun();
    const both = await Promise.all(
      ['slow', 'fast'].map((choice) => project.envelope(['answer', runId, 'a-1', '--choice', choice])),
    );
    const [taken, refused] = both[0]!.ok ? both : [both[1]!, both[0]!];
    assert.deepEqual([taken!.ok, refused!.ok, refused!.error.code], [true, false, 'E_BAD_ANSWER']);
    const { data } = await project.envelope(['wait', runId]);
    assert.equal(data.result.data.answer, taken!.data.answer);
    assert.equal(project.events(runId).filter(({ type }) => type === 'action_answered').length, 1);
  });

  it('is answered in advance, by flag, by file, and by a rule of the configuration, without a stop', async () => {
    const byFlag = await project.run(['asks', '--answer', 'choose_speed=slow']);
    assert.deepEqual([byFlag.code, byFlag.of('result')[0]!.data], [0, { answer: 'slow' }]);
    assert.equal(byFlag.of('action_answered')[0]!.source, 'beforehand');
    writeFileSync(project.path('answers.yaml'), 'choose_speed: fast\n');
    const byFile = await project.run(['asks', '--answers', 'answers.yaml']);
    assert.deepEqual(byFile.of('result')[0]!.data, { answer: 'fast' });
    const ruled = new TestProject({
      tools: ['asks'],
      config: 'version: 1\nanswers: [{ action: choose_speed, tool: asks, answer: slow, reason: the rule }]\n',
    });
    const byRule = await ruled.run(['asks']);
    assert.deepEqual(
      [byRule.of('action_answered')[0]!.source, byRule.of('action_answered')[0]!.reason],
      ['policy', 'the rule'],
    );
    ruled[Symbol.dispose]();
  });

  it('is asked for an answer when the one given in advance is invalid', async () => {
    const { events, code, runId } = await askedRun('--answer', 'choose_speed=sideways');
    assert.equal(code, 2);
    assert.ok(events.some(({ type, code: word }) => type === 'runner_warning' && word === 'E_BAD_ANSWER'));
    await project.acor(['cancel', runId]);
  });

  it('continues with its default without an answer, and fails with E_ACTION_TIMEOUT when it has none', async () => {
    const { runId } = await askedRun('--timeout-s', '0.3', '--fallback', 'slow');
    const withDefault = await project.envelope(['wait', runId, '--until', 'ending']);
    assert.deepEqual(withDefault.data.result.data, { answer: 'slow' });
    assert.equal(project.events(runId).find(({ type }) => type === 'action_answered')!.source, 'default');
    const other = await askedRun('--timeout-s', '0.3');
    const without = await project.envelope(['wait', other.runId, '--until', 'ending']);
    assert.deepEqual(
      [without.code, without.error.details.state, without.error.code],
      [1, 'failed', 'E_ACTION_TIMEOUT'],
    );
    assert.deepEqual(processesOf(other.runId), []);
  });

  it('is cancelled while it waits', async () => {
    const { runId } = await askedRun();
    const { data } = await project.envelope(['cancel', runId]);
    assert.equal(data.state, 'cancelled');
    assert.deepEqual(processesOf(runId), []);
  });

  it('returns its open question in one envelope to an agent that wants no stream', async () => {
    const { code, error, meta } = await project.envelope(['run', '--no-stream', 'asks']);
    assert.deepEqual([code, error.code], [2, 'E_ACTION_REQUIRED']);
    assert.equal(meta.next.at(-1), `acor attach ${error.details.run_id}`);
    await project.acor(['answer', error.details.run_id, '--choice', 'fast']);
    const attached = await project.acor(['attach', error.details.run_id]);
    assert.equal(attached.code, 0);
    assert.equal(parseLines(attached.stdout).at(-1)!.type, 'runner_end');
  });
});

describe('a run with a supervisor process of its own', () => {
  let project: TestProject;
  before(() => {
    project = new TestProject({ tools: ['waits', 'quick', 'needs_env'] });
  });
  after(() => project[Symbol.dispose]());

  it('survives its caller’s process group, and any number of shells can follow it', async () => {
    const caller = project.start(['run', '--detach', 'waits']);
    const { stdout } = await caller.finished;
    const runId = JSON.parse(stdout).data.run_id as string;
    const followers = [0, 3].map((since) => project.start(['attach', runId, '--since', String(since)]));
    await Promise.all(followers.map((follower) => follower.event('heartbeat')));
    followers[0]!.child.kill('SIGKILL');
    const third = project.start(['logs', runId, '--follow']);
    await third.event('heartbeat');
    await project.envelope(['cancel', runId]);
    const [, second] = await Promise.all(followers.map((follower) => follower.finished));
    const all = project.events(runId);
    assert.deepEqual(parseLines(second!.stdout), all.slice(3));
    assert.deepEqual(parseLines((await third.finished).stdout), all);
    assert.deepEqual(processesOf(runId), []);
  });

  it('is lost, and reported so, when its supervisor is killed, and its tool is killed with it', async () => {
    const { data } = await project.envelope(['run', '--detach', 'waits']);
    const runId = data.run_id as string;
    await until(() => project.events(runId).some(({ type }) => type === 'heartbeat'));
    await project.killSupervisor(runId);
    await until(() => processesOf(runId).length === 0);
    const waited = await project.envelope(['wait', runId]);
    assert.deepEqual([waited.code, waited.error.code], [1, 'E_RUNNER_LOST']);
  });

  it('reports to its caller why it cannot start', async () => {
    const { code, error } = await project.envelope(['run', '--detach', 'needs_env']);
    assert.deepEqual([code, error.code], [2, 'E_ENV_MISSING']);
  });

  it('continues when the time limit of a wait has passed', async () => {
    const { data } = await project.envelope(['run', '--detach', 'waits']);
    const waited = await project.envelope(['wait', data.run_id, '--timeout', '0.1']);
    assert.deepEqual([waited.code, waited.data.waited, waited.data.state], [0, 'timeout', 'running']);
    await project.envelope(['cancel', data.run_id]);
  });

  it('shows its two clocks while it is live, and none after its end', async () => {
    const { data } = await project.envelope(['run', '--detach', 'waits']);
    const runId = data.run_id as string;
    await until(() => project.events(runId).some(({ type }) => type === 'heartbeat'));
    const going = await project.envelope(['show', runId]);
    assert.equal(typeof going.data.silent_for_s, 'number');
    assert.equal(going.data.last_progress_at, null);
    const [line] = (await project.envelope(['runs', '--limit', '1'])).data.runs;
    assert.deepEqual([line.run_id, typeof line.silent_for_s], [runId, 'number']);
    await project.envelope(['cancel', runId]);
    const over = await project.envelope(['show', runId]);
    assert.deepEqual([over.data.silent_for_s, over.data.last_progress_at], [null, null]);
  });
});

describe('a question without an answer', () => {
  const ASKS = (more: string) =>
    `#!/bin/bash\necho '{"type":"action_required","action":"pick","action_id":"p-1"${more}}'\nread -r answer\necho '{"type":"result","status":"ok"}'\n`;
  let project: TestProject;
  before(() => {
    project = new TestProject();
    project.write('tools/deaf/main.sh', ASKS(',"blocking":true'), 0o755);
    project.write('tools/bare/main.sh', ASKS(',"msg":"Which?"'), 0o755);
  });
  after(() => project[Symbol.dispose]());

  it('is reported when the tool took the end of its input for the answer, with the line that helps', async () => {
    const { data, meta } = await project.envelope(['run', 'deaf', '--no-stream']);
    assert.equal(data.state, 'completed');
    assert.deepEqual(meta.warnings, [
      'the tool ended without an answer to its question "pick": only a tool with actions gets answers on standard input. In tool.yaml, write: actions: ["pick"]',
    ]);
    // The control: with that line, the run waits.
    project.write('tools/deaf/tool.yaml', 'name: deaf\nversion: 1.0.0\nactions: ["pick"]\n');
    const { error } = await project.envelope(['run', 'deaf', '--no-stream']);
    assert.equal(error.code, 'E_ACTION_REQUIRED');
    await project.envelope(['cancel', 'last']);
  });

  it('is in the answer of its run, also when the run did not wait for it', async () => {
    const { data, meta } = await project.envelope(['run', 'bare', '--no-stream']);
    const asked = [
      data,
      (await project.envelope(['show'])).data,
      (await project.envelope(['wait', 'last'])).data,
    ];
    for (const { questions } of asked)
      assert.deepEqual(
        questions.map(({ action_id, action, msg }: Record<string, unknown>) => [action_id, action, msg]),
        [['p-1', 'pick', 'Which?']],
      );
    assert.equal(meta.warnings, undefined);
    const { stdout } = await project.acor(['show', '--format', 'text']);
    assert.match(stdout, /unanswered +pick \(p-1\)/);
  });
});

describe('a tool whose manifest lists no actions', hasPython ? {} : { skip: 'python3 is not here' }, () => {
  let project: TestProject;
  before(() => {
    project = new TestProject();
    const asks =
      "from acor.protocol import ask, emit_result\n\ndef question():\n    emit_result(data=ask('pick', options=['a', 'b']))\n";
    project.write('tools/forgets/cli.py', `${asks}\nquestion()\n`);
    project.write('tools/forgets/tool.yaml', 'version: 1.0.0\n');
    // The entry itself has no call that asks.
    project.write('tools/hides/questions.py', asks);
    project.write('tools/hides/cli.py', 'import questions\nquestions.question()\n');
    project.write('tools/hides/tool.yaml', 'version: 1.0.0\n');
  });
  after(() => project[Symbol.dispose]());

  it('holds no caller when its entry asks: the call returns with the question, and the run continues', async () => {
    const { code, error, meta } = await project.envelope(['run', 'forgets', '--no-stream']);
    assert.deepEqual([code, error.code], [2, 'E_ACTION_REQUIRED']);
    const runId = project.runIds()[0]!;
    assert.equal(meta.next[0], `acor answer ${runId} a-1 --choice a`);
    await project.envelope(['answer', runId, '--choice', 'b']);
    assert.equal((await project.envelope(['wait', runId])).data.result.data, 'b');
  });

  it('names on stderr the answer and the line of the manifest when its question comes unexpected', async () => {
    const running = project.start(['run', 'hides']);
    running.child.stdin!.end();
    const { run_id: runId } = await running.event('runner_state', 'waiting_ai');
    await project.envelope(['answer', String(runId), '--choice', 'b']);
    const { stderr, code } = await running.finished;
    assert.equal(code, 0);
    assert.match(stderr, /waits for an answer to "pick"/);
    assert.ok(stderr.includes(`acor answer ${runId} a-1 --choice a`), stderr);
    assert.match(stderr, /actions: \["pick"\]/);
  });
});
