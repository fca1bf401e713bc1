import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { commandOf } from '../../src/operations/command-forms.ts';
import { CALLABLE, inputsOf } from '../support/every-operation.ts';
import {
  ACOR,
  parseLines,
  processesOf,
  Running,
  TestProject,
  until,
  WITHOUT_SANDBOX,
} from '../support/project.ts';

const IN_PID_NAMESPACE = ['unshare', '--pid', '--fork', '--mount-proc', '--kill-child'];
const canUnshare = spawnSync(IN_PID_NAMESPACE[0]!, [...IN_PID_NAMESPACE.slice(1), 'true']).status === 0;
const needsPidNamespace = canUnshare ? {} : { skip: 'needs root and unshare, for a PID namespace' };

/** A call of every operation that only reads. A command that follows a run gets a limit of its own. */
async function readingCommands(runId: string): Promise<string[][]> {
  const inputs = inputsOf({ run: runId, failed: runId, failedToo: runId, asking: runId, flow: runId });
  const commands = [
    ['logs', runId],
    ['decisions'],
    ['verify'],
    ['show', 'last'],
    ['wait', runId, '--timeout', '0.2'],
  ];
  for (const { operation, load } of CALLABLE) {
    const { effect, readsWithout } = await load();
    if ((effect !== 'reads' && readsWithout === undefined) || FOLLOWING.includes(operation)) continue;
    const input = inputs[operation as keyof typeof inputs]();
    commands.push(commandOf({ operation, input, why: '' }).split(' ').slice(1));
  }
  assert.ok(commands.length > LEAST_READING, String(commands.length));
  return commands;
}

const FOLLOWING: readonly string[] = ['run.attach', 'run.wait'];
const LEAST_READING = 30;

describe('a run whose supervisor is in another PID namespace', needsPidNamespace, () => {
  it('stays live and completes, whatever reads it from outside', async () => {
    using project = new TestProject({ tools: ['holds'], config: WITHOUT_SANDBOX });
    const running = startInNamespace(project, ['run', 'holds', project.path('go')]);
    const runId = String((await running.event('heartbeat')).run_id);
    const before = project.events(runId).length;
    for (const args of await readingCommands(runId)) {
      // Some of them find nothing here: the run has no artifact yet, and there is no workflow.
      assert.notEqual((await project.acor(args)).code, null, args.join(' '));
      const { state, epoch } = JSON.parse(
        readFileSync(project.path('.runs', runId, 'metadata.json'), 'utf8'),
      );
      assert.deepEqual([state, epoch, leasesOf(project).length], ['running', 1, 1], args.join(' '));
    }
    const followers = [
      ['attach', runId],
      ['logs', runId, '--follow'],
    ].map((args) => project.start(args));
    assert.equal((await readOverMcp(project, runId)).state, 'running');
    assert.equal((await project.envelope(['show', runId])).data.state, 'running');
    // Neither does a command that recovers lost runs.
    await project.acor(['health', '--fix']);
    await until(() => project.events(runId).length > before);
    project.write('go', '');
    const { code } = await running.finished;
    assert.equal(code, 0);
    for (const follower of followers) assert.match((await follower.finished).stdout, /"runner_end"/);
    const { data } = await project.envelope(['show', runId]);
    assert.deepEqual([data.state, data.epoch], ['completed', 1]);
    assert.deepEqual(readdirSync(project.path('.runs', 'leases')), []);
  });

  it('is lost when its lease is not renewed any more, and is recovered then', async () => {
    using project = new TestProject({ tools: ['holds'], config: WITHOUT_SANDBOX });
    const running = startInNamespace(project, ['run', 'holds', project.path('go')]);
    const runId = String((await running.event('heartbeat')).run_id);
    running.child.kill('SIGKILL');
    await running.finished;
    assert.equal((await project.envelope(['show', runId])).data.state, 'running');
    const [lease] = readdirSync(project.path('.runs', 'leases'));
    const aMinuteAgo = new Date(Date.now() - 60_000);
    utimesSync(project.path('.runs', 'leases', lease!), aMinuteAgo, aMinuteAgo);
    const { data } = await project.envelope(['show', runId]);
    assert.deepEqual([data.state, data.code, data.lost], ['failed', 'E_RUNNER_LOST', true]);
    await project.acor(['health', '--fix']);
    const { data: after } = await project.envelope(['show', runId]);
    assert.deepEqual([after.state, after.code, after.lost], ['failed', 'E_RUNNER_LOST', undefined]);
  });
});

describe('a lost run', () => {
  it('leaves no ticket in the queue after acor health --fix, which keeps that of a run that works', async () => {
    using project = new TestProject({ tools: ['holds'], config: WITHOUT_SANDBOX });
    const [killed, works] = [1, 2].map(() => project.start(['run', 'holds', project.path('go')]));
    await killed!.event('heartbeat');
    const runId = String((await works!.event('heartbeat')).run_id);
    killed!.child.kill('SIGKILL');
    await killed!.finished;
    const tickets = () => readdirSync(project.path('.runs', 'queue'));
    assert.equal(tickets().length, 2);
    await project.acor(['health', '--fix']);
    assert.deepEqual(tickets(), [`${runId}.working`]);
    project.write('go', '');
    assert.equal((await works!.finished).code, 0);
  });

  it('of a store that was copied from another boot of a machine is reported as lost, and is not changed', async () => {
    using original = new TestProject({ tools: ['holds'], config: WITHOUT_SANDBOX });
    const running = original.start(['run', 'holds', original.path('go')]);
    const runId = String((await running.event('heartbeat')).run_id);
    using copy = new TestProject({ tools: ['holds'], config: WITHOUT_SANDBOX });
    // The FIFOs of the tool are among the files.
    assert.equal(spawnSync('cp', ['-a', original.runsDir, copy.runsDir]).status, 0);
    original.write('go', '');
    await running.finished;
    const [lease] = readdirSync(copy.path('.runs', 'leases'));
    const path = copy.path('.runs', 'leases', lease!);
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), host: 'another boot' }));
    utimesSync(path, 0, 0);
    const before = filesOf(copy, runId);
    for (const args of await readingCommands(runId)) {
      await copy.acor(args);
      assert.deepEqual(leasesOf(copy), [lease], args.join(' '));
    }
    const { data, meta } = await copy.envelope(['show', runId]);
    assert.deepEqual([data.state, data.code, data.lost], ['failed', 'E_RUNNER_LOST', true]);
    assert.equal(meta.next![0], `acor resume ${runId}`);
    const listed = await copy.envelope(['runs']);
    assert.equal(listed.data.runs[0].lost, true);
    assert.equal((await readOverMcp(copy, runId)).lost, true);
    const followed = await copy.acor(['logs', runId, '--follow']);
    const last = parseLines(followed.stdout).at(-1)!;
    assert.deepEqual([last.type, last.code, last.lost], ['runner_end', 'E_RUNNER_LOST', true]);
    assert.equal((last.next as string[])[0], `acor resume ${runId}`);
    assert.equal(last.seq, copy.events(runId).at(-1)!.seq);
    const { data: health } = await copy.envelope(['health']);
    const check = health.checks.find(({ name }: { name: string }) => name === 'store.lost_runs');
    assert.deepEqual([check.status, check.fix], ['degraded', 'acor health --fix']);
    assert.deepEqual(filesOf(copy, runId), before);
    // Starting another run recovers it.
    copy.write('go', '');
    assert.equal((await copy.acor(['run', 'holds', copy.path('go')])).code, 0);
    const recovered = await copy.envelope(['show', runId]);
    assert.deepEqual([recovered.data.code, recovered.data.lost], ['E_RUNNER_LOST', undefined]);
    assert.deepEqual(readdirSync(copy.path('.runs', 'leases')), []);
    assert.equal((await copy.envelope(['resume', runId, '--no-stream'])).data.state, 'completed');
  });

  it('in a copy of the store of a live run is lost there, and its recovery leaves the original alone', async () => {
    using original = new TestProject({ tools: ['holds'], config: WITHOUT_SANDBOX });
    const running = original.start(['run', 'holds', original.path('go')]);
    const runId = String((await running.event('heartbeat')).run_id);
    using copy = new TestProject({ tools: ['holds', 'quick'], config: WITHOUT_SANDBOX });
    assert.equal(spawnSync('cp', ['-a', original.runsDir, copy.runsDir]).status, 0);
    assert.equal((await copy.envelope(['show', runId])).data.lost, true);
    await copy.acor(['health', '--fix']);
    const { data } = await copy.envelope(['show', runId]);
    assert.deepEqual([data.state, data.code, data.lost], ['failed', 'E_RUNNER_LOST', undefined]);
    assert.notDeepEqual(processesOf(runId), []);
    assert.equal((await original.envelope(['show', runId])).data.state, 'running');
    original.write('go', '');
    assert.equal((await running.finished).code, 0);
  });

  it('of a tool that is not idempotent leads to the resume that is accepted', async () => {
    using project = new TestProject({ tools: ['steps_once'], config: WITHOUT_SANDBOX });
    const running = project.start(['run', 'steps_once']);
    const runId = String((await running.event('progress')).run_id);
    running.child.kill('SIGKILL');
    await running.finished;
    await until(() => processesOf(runId).length === 0);
    const next = [`acor logs ${runId}`, `acor resume ${runId} --force`];
    const { meta } = await project.envelope(['show', runId]);
    assert.deepEqual(meta.next, next);
    const said = [];
    for (const recovers of [false, true]) {
      if (recovers) await project.acor(['health', '--fix']);
      for (const command of ['attach', 'wait']) {
        const { error, ...answer } = await project.envelope([
          command,
          runId,
          ...(command === 'attach' ? ['--no-stream'] : []),
        ]);
        assert.deepEqual([answer.ok, answer.code, answer.meta.next], [false, 1, next], command);
        assert.match(error.hint, /only if repeating it does no harm/);
        said.push([error.code, error.message, error.hint, error.class, error.retryable, error.action]);
      }
    }
    assert.deepEqual([said[0]![0], said[0]![4]], ['E_RUNNER_LOST', false]);
    for (const each of said) assert.deepEqual(each, said[0]);
  });

  it('is distinguished from a live one with the same pid', async () => {
    using project = new TestProject({ tools: ['holds'], config: WITHOUT_SANDBOX });
    const running = project.start(['run', 'holds', project.path('go')]);
    const runId = String((await running.event('heartbeat')).run_id);
    running.child.kill('SIGKILL');
    await running.finished;
    await until(() => processesOf(runId).length === 0);
    const [lease] = readdirSync(project.path('.runs', 'leases'));
    const path = project.path('.runs', 'leases', lease!);
    // A recycled pid has another start time.
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), pid: process.pid }));
    assert.equal((await project.envelope(['show', runId])).data.lost, true);
  });
});

describe('a run that has ended', () => {
  it('leaves its folder, its log, its record and what its tool wrote', async () => {
    using project = new TestProject({ tools: ['quick'], config: WITHOUT_SANDBOX });
    const { end } = await project.run(['quick']);
    const folder = project.path('.runs', String(end.run_id));
    const left = readdirSync(folder, { recursive: true }).map(String).sort();
    assert.deepEqual(left, ['events.jsonl', 'logs', join('logs', 'stdout.log'), 'metadata.json']);
    for (const name of ['leases', 'queue']) assert.deepEqual(readdirSync(project.path('.runs', name)), []);
  });
});

function startInNamespace(project: TestProject, args: readonly string[]): Running {
  const [program, ...flags] = IN_PID_NAMESPACE;
  const env = project.environment();
  const stdio = ['pipe', 'pipe', 'pipe'] as const;
  return new Running(
    spawn(program!, [...flags, ACOR, ...args], { cwd: project.root, env, stdio: [...stdio] }),
  );
}

/** The record of a run as a client of MCP reads it. */
async function readOverMcp(project: TestProject, runId: string) {
  const server = project.start(['mcp']);
  const answers: string[] = [];
  server.child.stdout!.on('data', (text: string) => answers.push(text));
  const send = (message: object) =>
    server.child.stdin!.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'test', version: '1' };
  send({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
  });
  send({ method: 'notifications/initialized' });
  send({ id: 2, method: 'resources/list', params: {} });
  send({ id: 3, method: 'resources/read', params: { uri: `acor://runs/${runId}` } });
  const answer = () =>
    answers
      .join('')
      .split('\n')
      .find((line) => line.includes('"id":3') && line.endsWith('}'));
  await until(() => answer() !== undefined);
  server.child.stdin!.end();
  await server.finished;
  return JSON.parse(JSON.parse(answer()!).result.contents[0].text);
}

function leasesOf(project: TestProject): string[] {
  return readdirSync(project.path('.runs', 'leases'));
}

function filesOf(project: TestProject, runId: string): Record<string, string> {
  const folder = project.path('.runs', runId);
  const names = ['events.jsonl', 'metadata.json'];
  return Object.fromEntries(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}
