import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, afterEach, before, describe, it } from 'node:test';
import { Acor } from '../../src/index.ts';
import { TestServer } from '../support/http-server.ts';
import { callOf, connectTo } from '../support/mcp-client.ts';
import { TestProject, until } from '../support/project.ts';
import { KEYS, noTerminal, Terminal } from '../support/terminal.ts';

const AGENT = { AI_AGENT: 'planner' };

const ASKS_USER = `#!/bin/bash
echo '{"type":"action_required","action":"say_yes","action_id":"q","audience":"user","blocking":true,"schema":{"type":"string"}}'
read -r answer
echo '{"type":"result","status":"ok","data":'"$answer"'}'
`;

let project: TestProject;
before(() => {
  project = new TestProject({ tools: ['asks', 'quick'] });
});
afterEach(() => {
  project.write('.acor/policy.yaml', '{}\n');
});
after(async () => {
  await project.supervisorsExited();
  project[Symbol.dispose]();
});

function policy(rules: Record<string, readonly string[]>): void {
  project.write('.acor/policy.yaml', `${JSON.stringify({ who_may: rules })}\n`);
}

/** A run that asks, started by a caller. */
async function asking(env: Record<string, string> = {}): Promise<string> {
  const { data } = await project.envelope(['run', 'asks', '--detach'], { env });
  await until(() => project.record(data.run_id)?.state === 'waiting_ai');
  return data.run_id;
}

const answer = (run: string, env: Record<string, string> = {}) =>
  project.envelope(['answer', run, '--choice', 'fast'], { env });

const recordOf = (run: string) =>
  JSON.parse(readFileSync(project.path('.runs', run, 'metadata.json'), 'utf8'));

const cancel = (run: string) => project.envelope(['cancel', run]);

describe('who_may in a policy', () => {
  it('lets everybody do everything where it is missing', async () => {
    const run = await asking(AGENT);
    assert.equal((await answer(run, AGENT)).data.by, 'planner');
  });

  it('refuses an answer of an agent that it does not name, and says who may and what would let it', async () => {
    policy({ answer: ['user', 'agent:reviewer'] });
    const run = await asking(AGENT);
    const refused = await answer(run, AGENT);
    assert.deepEqual([refused.error.code, refused.code], ['E_POLICY_DENIED', 2]);
    assert.match(refused.error.message, /agent:planner may not answer questions/);
    const [violation] = refused.error.details.violations;
    assert.deepEqual(
      [violation.path, violation.asked, violation.allowed],
      ['who_may.answer', 'agent:planner', ['user', 'agent:reviewer']],
    );
    assert.match(violation.by, /policy\.yaml:1:\d+$/);
    assert.match(violation.fix, /add \S+ to the list who_may\.answer at \S+:\d+:\d+\.$/);
    assert.equal(project.record(run)?.state, 'waiting_ai');
    assert.equal((await answer(run, { AI_AGENT: 'reviewer' })).ok, true);
  });

  it('keeps an agent from answering its own run, also beforehand, and lets another one answer it', async () => {
    policy({ answer_own: ['user'] });
    const run = await asking(AGENT);
    assert.match((await answer(run, AGENT)).error.message, /the same caller has started/);
    assert.equal((await answer(run, { AI_AGENT: 'reviewer' })).ok, true);
    const before = project.runIds().length;
    const given = await project.envelope(['run', 'asks', '--answer', 'choose_speed=fast'], { env: AGENT });
    assert.equal(given.error.code, 'E_POLICY_DENIED');
    assert.equal(project.runIds().length, before);
  });

  it('keeps an agent from giving the recorded answers of a run again, and lets a person do it', async () => {
    const run = await asking(AGENT);
    assert.equal((await answer(run)).ok, true);
    await project.envelope(['wait', run]);
    policy({ answer: ['user'] });
    const replay = ['replay', run, '--execute', '--no-stream'];
    const before = project.runIds().length;
    const refused = await project.envelope(replay, { env: AGENT });
    const given = await project.envelope(['run', 'asks', '--answer', 'choose_speed=fast'], { env: AGENT });
    assert.deepEqual([refused.code, refused.error], [given.code, given.error]);
    assert.equal(refused.error.code, 'E_POLICY_DENIED');
    assert.equal(project.runIds().length, before);
    assert.deepEqual(refused.meta.next, [`acor replay ${run} --at-once`]);
    assert.equal((await project.acor(['replay', run, '--at-once'], { env: AGENT })).code, 0);
    assert.equal((await project.envelope(replay)).data.state, 'completed');
  });

  it('keeps an agent from answering a run that it has only retried, and the first caller too', async () => {
    const run = await asking(AGENT);
    await cancel(run);
    const other = { AI_AGENT: 'ci' };
    await project.envelope(['retry', run, '--detach', '--force'], { env: other });
    await until(() => project.record(run)?.state === 'waiting_ai');
    policy({ answer_own: [] });
    for (const env of [other, AGENT]) assert.equal((await answer(run, env)).error?.code, 'E_POLICY_DENIED');
    assert.equal((await answer(run, { AI_AGENT: 'reviewer' })).ok, true);
  });

  it('keeps an agent from answering for a step of its own workflow', async () => {
    policy({ answer_own: [] });
    project.write('.acor/workflows/one.yaml', 'steps: [{ name: only, tool: asks }]\n');
    const { data } = await project.envelope(['workflow', 'run', 'one', '--detach'], { env: AGENT });
    await until(() => project.record(data.run_id)?.state === 'waiting_ai');
    const asked = project.events(data.run_id).find(({ type }) => type === 'task_started');
    const child = String(asked!.child_run_id);
    for (const run of [data.run_id, child])
      assert.equal((await answer(run, AGENT)).error.code, 'E_POLICY_DENIED', run);
    assert.equal((await answer(child, { AI_AGENT: 'reviewer' })).ok, true);
  });

  it('decides who may run, cancel, approve, change and read', async () => {
    const run = await asking();
    policy({ run: ['user'], cancel: ['user'], approve: ['user'], change: ['user'], read: ['user'] });
    for (const args of [
      ['run', 'quick'],
      ['exec', '--', 'true'],
      ['cancel', run],
      ['approve', 'quick'],
      ['trust'],
      ['clean'],
      ['config', 'set', 'project.name', 'x'],
      ['validate', '--fix'],
      ['validate', '--junit', 'report.xml'],
      ['health', '--fix'],
      ['init'],
      ['agents', 'remove'],
      ['runs'],
      ['show', run],
      ['list'],
      ['metrics'],
      ['health'],
      ['validate'],
      ['explain'],
      ['config', 'show'],
      ['plugins', 'list'],
    ]) {
      const refused = await project.envelope(args, { env: AGENT });
      assert.equal(refused.error?.code, 'E_POLICY_DENIED', args.join(' '));
    }
    for (const args of [['version'], ['errors'], ['tools']])
      assert.equal((await project.envelope(args, { env: AGENT })).ok, true, args.join(' '));
    assert.equal((await project.envelope(['runs'])).ok, true);
    assert.equal((await cancel(run)).ok, true);
  });

  it('takes the lists of approvals and of trusted settings for reading, and changes nothing with them', async () => {
    const widens = 'version: 1\nsecurity: { isolation: off }\n';
    using trusted = new TestProject({ tools: ['quick'], config: widens, isTrusted: true });
    const rules = (given: object) =>
      trusted.write('.acor/policy.yaml', `${JSON.stringify({ who_may: given })}\n`);
    const ask = (...args: string[]) => trusted.envelope(args, { env: AGENT });
    rules({ approve: [] });
    for (const list of [
      ['trust', '--list'],
      ['trust', '--list', '--revoke'],
      ['approve', '--list'],
    ])
      assert.equal((await ask(...list)).ok, true, list.join(' '));
    assert.equal((await ask('trust', '--list', '--revoke')).data.state, 'trusted');
    // The controls: without the list it is no reading, and reading can be refused.
    for (const args of [['trust'], ['trust', '--revoke'], ['trust', '--dry-run'], ['approve', 'quick']])
      assert.equal((await ask(...args)).error?.code, 'E_POLICY_DENIED', args.join(' '));
    rules({ read: [] });
    for (const name of ['trust', 'approve'])
      assert.equal((await ask(name, '--list')).error?.code, 'E_POLICY_DENIED', name);
  });

  it('takes a dry run for what it tries', async () => {
    const run = await asking();
    policy({ run: ['user'], cancel: [], read: [] });
    for (const args of [['run', 'quick'], ['cancel', run], ['outbox']])
      assert.equal(
        (await project.envelope([...args, '--dry-run'], { env: AGENT })).error?.code,
        'E_POLICY_DENIED',
        args.join(' '),
      );
    // The control: the user may run, and reads nothing.
    assert.equal((await project.envelope(['run', 'quick', '--dry-run'])).ok, true);
    assert.equal((await project.envelope(['list'])).error.code, 'E_POLICY_DENIED');
    policy({});
    await cancel(run);
  });

  it('shows metrics, health and checks to no client of the HTTP server that may not read', async () => {
    project.write('scraper-token', 'a-token-of-the-scraper\n', 0o600);
    const client = `scraper=${project.path('scraper-token')}`;
    const server = await TestServer.start(project, ['--client', client]);
    policy({ read: ['token:scraper'] });
    const scraper = { Authorization: 'Bearer a-token-of-the-scraper' };
    try {
      const calls = [
        (headers = {}) => server.get('/metrics', headers),
        (headers = {}) => server.get('/api/v1/system.metrics', headers),
        (headers = {}) => server.call('system.health', {}, headers),
        (headers = {}) => server.call('project.validate', {}, headers),
        (headers = {}) => server.call('system.explain', {}, headers),
      ];
      for (const call of calls) {
        const refused = await call();
        assert.deepEqual([refused.status, refused.json.error?.code], [403, 'E_POLICY_DENIED'], refused.text);
        assert.equal((await call(scraper)).status, 200);
      }
      assert.equal((await server.get('/healthz')).status, 200);
      assert.equal((await server.get('/api/v1/system.version')).status, 200);
    } finally {
      await server.stop();
    }
  });

  it('is reported by health and validate where it is invalid, to callers at this machine', async () => {
    policy({ read: ['users'] });
    for (const args of [['health'], ['validate']])
      assert.match((await project.acor(args, { env: AGENT })).stdout, /user, agent or token/, args.join(' '));
    const server = await TestServer.start(project, ['--http-allow', 'writes']);
    try {
      for (const input of [{}, { fix: true }, { selftest: true }, { junit: 'report.xml' }]) {
        const { json } = await server.call('project.validate', input);
        assert.deepEqual([json.error.code, json.error.details.findings], ['E_CONFIG_INVALID', undefined]);
      }
    } finally {
      await server.stop();
    }
  });

  it('holds for a client of the MCP server by its name, and not for the user whom the client asks', async () => {
    policy({ answer: ['user'] });
    project.write('tools/asks_user/tool.yaml', 'name: asks_user\nversion: 1.0.0\nactions: [say_yes]\n');
    project.write('tools/asks_user/cli.sh', ASKS_USER, 0o755);
    const client = await connectTo(project, {
      name: 'planner',
      capabilities: { elicitation: { form: {} } },
    });
    client.setRequestHandler('elicitation/create', async () => ({
      action: 'accept',
      content: { answer: 'yes' },
    }));
    try {
      const run = await asking();
      const refused = await callOf(client, 'acor_answer', { run, choice: 'fast' });
      assert.equal(refused.error.code, 'E_POLICY_DENIED');
      await cancel(run);
      const answered = await callOf(client, 'asks_user');
      assert.equal(answered.state, 'completed', JSON.stringify(answered));
      const { data } = await project.envelope(['decisions', answered.run_id]);
      assert.equal(data.decisions[0].by, 'user');
      // ACOR cannot see who fills in a form: a list of named users excludes it.
      policy({ answer: ['user:ada'] });
      const unanswered = await callOf(client, 'asks_user');
      assert.equal(unanswered.state, 'waiting_ai', JSON.stringify(unanswered));
      await cancel(unanswered.run_id);
    } finally {
      await client.close();
    }
  });

  it('distinguishes the clients of the HTTP server by their tokens, and offers no step that it refuses', async () => {
    policy({ answer: ['token:reviewer'], answer_own: [] });
    project.write('reviewer-token', 'a-token-of-the-reviewer\n', 0o600);
    const server = await TestServer.start(project, [
      '--http-allow',
      'writes',
      '--client',
      `reviewer=${project.path('reviewer-token')}`,
    ]);
    try {
      const started = await server.call('run.start', { tool: 'asks', detach: true });
      const run: string = started.json.data.run_id;
      await until(() => project.record(run)?.state === 'waiting_ai');
      const refused = await server.call('run.answer', { run, choice: 'fast' });
      assert.deepEqual([refused.status, refused.json.error.code], [403, 'E_POLICY_DENIED']);
      const next = async (headers = {}) =>
        (await server.call('run.show', { run }, headers)).json.meta.next.filter((step: { path?: string }) =>
          step.path?.endsWith('run.answer'),
        ).length;
      const reviewer = { Authorization: 'Bearer a-token-of-the-reviewer' };
      assert.deepEqual([await next(), (await next(reviewer)) > 0], [0, true]);
      const given = await server.call('run.answer', { run, choice: 'fast' }, reviewer);
      assert.deepEqual([given.status, given.json.data.by], [200, 'reviewer']);
      const wrong = await server.call('run.list', {}, { Authorization: 'Bearer another-token-of-none' });
      assert.equal(wrong.status, 401);
    } finally {
      await server.stop();
    }
  });

  it('distinguishes an agent and a client of the HTTP server with one name', async () => {
    policy({ answer_own: [] });
    project.write('ci-token', 'a-token-of-the-client-ci\n', 0o600);
    const options = [
      '--http-allow',
      'run',
      '--http-allow',
      'retry',
      '--client',
      `ci=${project.path('ci-token')}`,
    ];
    const server = await TestServer.start(project, options);
    const headers = { Authorization: 'Bearer a-token-of-the-client-ci' };
    const ofAgent = { AI_AGENT: 'ci' };
    try {
      const started = await server.call('run.start', { tool: 'asks', detach: true }, headers);
      const ofToken: string = started.json.data.run_id;
      await until(() => project.record(ofToken)?.state === 'waiting_ai');
      const own = await asking(ofAgent);
      const listed = async (caller: string) =>
        (await project.envelope(['runs', '--caller', caller, '--limit', '2'])).data.runs.map(
          ({ run_id }: { run_id: string }) => run_id,
        );
      assert.deepEqual(
        [await listed('token:ci'), await listed('agent:ci'), await listed('ci')],
        [[ofToken], [own], [own, ofToken]],
      );
      assert.deepEqual([recordOf(ofToken).caller, recordOf(own).caller], ['token:ci', 'agent:ci']);
      assert.equal((await answer(ofToken, ofAgent)).ok, true);
      const retried = await asking();
      await cancel(retried);
      await server.call('run.retry', { run: retried, detach: true, force: true }, headers);
      await until(() => project.record(retried)?.state === 'waiting_ai');
      assert.equal((await answer(retried, ofAgent)).ok, true);
      // The control: the agent's own run.
      assert.equal((await answer(own, ofAgent)).error?.code, 'E_POLICY_DENIED');
      await cancel(own);
    } finally {
      await server.stop();
    }
  });

  it('counts a record of an earlier build, which has no kind, as that of each caller with the name', async () => {
    policy({ answer_own: [] });
    const run = await asking({ AI_AGENT: 'old' });
    const old = JSON.stringify({ ...recordOf(run), caller: 'old' });
    project.write(`.runs/${run}/metadata.json`, old);
    assert.equal((await answer(run, { AI_AGENT: 'old' })).error?.code, 'E_POLICY_DENIED');
    const { data } = await project.envelope(['show', run]);
    assert.equal(data.state, 'waiting_ai');
    assert.equal((await answer(run, { AI_AGENT: 'reviewer' })).ok, true);
  });

  it('shares no answer of an Idempotency-Key among the clients of the HTTP server', async () => {
    policy({ read: ['token:reviewer'] });
    project.write('reviewer-token', 'a-token-of-the-reviewer\n', 0o600);
    const client = `reviewer=${project.path('reviewer-token')}`;
    const server = await TestServer.start(project, ['--client', client]);
    const reviewer = { Authorization: 'Bearer a-token-of-the-reviewer' };
    const check = (key: string, headers = {}) =>
      server.call('project.validate', {}, { 'Idempotency-Key': key, ...headers });
    try {
      const checked = await check('one', reviewer);
      assert.deepEqual([checked.status, (await check('one')).json.error?.code], [200, 'E_POLICY_DENIED']);
      assert.deepEqual([(await check('two')).status, (await check('two', reviewer)).status], [403, 200]);
      // The control: the same client gets the kept answer, with the duration of the first call.
      assert.deepEqual((await check('one', reviewer)).json, checked.json);
    } finally {
      await server.stop();
      policy({});
    }
  });

  it('does not open the dialog at a terminal for an answer that would be refused', {
    skip: noTerminal,
  }, async () => {
    policy({ answer_own: [] });
    const terminal = new Terminal(project, ['run', 'asks']);
    await terminal.shows('choose_speed');
    terminal.type(KEYS.down + KEYS.enter);
    const mine = project.runIds().at(-1)!;
    await until(() => project.record(mine)?.state === 'waiting_ai');
    assert.equal((await answer(mine, { AI_AGENT: 'reviewer' })).data.by, 'reviewer');
    await terminal.ended;
  });

  it('holds for the library', async () => {
    policy({ answer_own: [] });
    const acor = new Acor({ cwd: project.root, env: project.environment(AGENT) });
    await assert.rejects(async () => acor.run('asks', [], { onQuestion: () => 'fast' }), {
      code: 'E_POLICY_DENIED',
    });
    const run = await asking(AGENT);
    await assert.rejects(acor.answer(run, 'a-1', 'fast'), { code: 'E_POLICY_DENIED' });
    const other = new Acor({ cwd: project.root, env: project.environment({ AI_AGENT: 'reviewer' }) });
    await other.answer(run, 'a-1', 'fast');
  });

  it('reports a name that it does not know, and then nothing runs', async () => {
    policy({ run: ['users'] });
    const { error } = await project.envelope(['run', 'quick']);
    assert.equal(error.code, 'E_CONFIG_INVALID');
    assert.match(error.message, /user, agent or token/);
  });
});
