import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { describe, it } from 'node:test';
import { ACOR, parseLines, processesOf, TestProject, until } from '../support/project.ts';
import { unrecordEnd } from '../support/unrecorded-end.ts';

const canTrace = spawnSync('strace', ['-o', '/dev/null', 'true'], { stdio: 'ignore' }).status === 0;
const needsStrace = canTrace ? {} : { skip: 'needs strace' };

/** A project with a tool that leaves a trace each time it runs, and the number of traces. */
function tracing(...tools: string[]) {
  const project = new TestProject({ tools: ['appends', ...tools] });
  mkdirSync(project.path('traces'));
  const traces = () => readFileSync(project.path('traces', 'runs'), 'utf8').trim().split('\n');
  return { project, traces };
}

const APPEND = ['appends', '--folder', 'traces'];

describe('a run with an idempotency key', () => {
  it('starts once for any number of concurrent callers, and all of them see it', async () => {
    const { project, traces } = tracing();
    using _ = project;
    const asked = await Promise.all(
      Array.from({ length: 6 }, () => project.run(['--idempotency-key', 'k 1/ü', ...APPEND])),
    );
    const ids = new Set(asked.map(({ end }) => end.run_id));
    assert.equal(ids.size, 1);
    assert.deepEqual(traces(), [...ids]);
    assert.deepEqual(new Set(asked.map(({ code }) => code)), new Set([0]));
    for (const { events } of asked) assert.deepEqual(events, asked[0]!.events);
    assert.deepEqual(project.runIds(), [...ids]);
  });

  it('refuses a key of ACOR’s own: that of a step of a workflow', async () => {
    const { project } = tracing();
    using _ = project;
    const key = 'r-1m8affvqp488rzvt/deploy/1';
    const { error } = await project.envelope(['run', '--idempotency-key', key, '--no-stream', ...APPEND]);
    assert.deepEqual([error?.code, project.runIds()], ['E_USAGE', []]);
    // The control: a key that only looks like it.
    const other = await project.envelope(['run', '--idempotency-key', 'r-2026/1', '--no-stream', ...APPEND]);
    assert.equal(other.ok, true, JSON.stringify(other.error));
  });

  it('starts at each call without the key (the control)', async () => {
    const { project, traces } = tracing();
    using _ = project;
    await Promise.all([project.run(APPEND), project.run(APPEND)]);
    assert.equal(traces().length, 2);
  });

  it('is returned as it ended, also when its tool is missing now', async () => {
    const { project } = tracing('reads_file');
    using _ = project;
    project.write('in.txt', 'three\nlines\nhere\n');
    const call = ['run', '--idempotency-key', 'k', '--no-stream', 'reads_file', 'in.txt'];
    const first = await project.envelope(call);
    rmSync(project.path('in.txt'));
    const second = await project.acor(call);
    const { data } = JSON.parse(second.stdout);
    assert.deepEqual([second.code, data.run_id, data.state], [0, first.data.run_id, 'completed']);
    assert.match(second.stderr, /was already started with this idempotency key/);
    assert.equal((await project.envelope(call.toSpliced(1, 2))).error.code, 'E_INPUT_NOT_FOUND');
  });

  it('is returned when its supervisor was killed midway, and does not start a second time', async () => {
    const { project, traces } = tracing();
    using _ = project;
    const call = ['--idempotency-key', 'k', ...APPEND, '--then', 'stays'];
    const first = project.start(['run', ...call]);
    const runId = String((await first.event('heartbeat')).run_id);
    await project.killSupervisor(runId);
    await first.finished;
    await until(() => processesOf(runId).length === 0);
    const second = await project.envelope(['run', '--no-stream', ...call]);
    assert.deepEqual(
      [second.code, second.error.code, second.error.details.run_id],
      [1, 'E_RUNNER_LOST', runId],
    );
    assert.deepEqual(traces(), [runId]);
    const resumed = await project.envelope(['resume', runId]);
    assert.equal(resumed.error.code, 'E_OUTCOME_UNKNOWN');
  });

  it('shows its open question to the second caller as well', async () => {
    const { project } = tracing('asks');
    using _ = project;
    const first = await project.acor(['run', '--idempotency-key', 'k', 'asks']);
    const second = await project.acor(['run', '--idempotency-key', 'k', 'asks']);
    assert.deepEqual([first.code, second.code], [2, 2]);
    const runId = String(parseLines(first.stdout)[0]!.run_id);
    assert.equal(parseLines(second.stdout)[0]!.run_id, runId);
    assert.match(second.stderr, new RegExp(`acor answer ${runId} a-1 --choice slow`));
    await project.envelope(['answer', runId, '--choice', 'slow']);
    await project.envelope(['wait', runId]);
    const detached = await project.envelope(['run', '--idempotency-key', 'k', '--detach', 'asks']);
    assert.deepEqual([detached.data.run_id, detached.data.state], [runId, 'completed']);
  });

  it('is shown as ended by the end in its log, although its supervisor has not written the record yet', async () => {
    const { project } = tracing();
    using _ = project;
    const { end } = await project.run(['--idempotency-key', 'k', ...APPEND]);
    await project.supervisorsExited();
    unrecordEnd(project.runsDir, String(end.run_id));
    const { data } = await project.envelope(['run', '--idempotency-key', 'k', '--detach', ...APPEND]);
    assert.deepEqual([data.run_id, data.state], [end.run_id, 'completed']);
  });

  it('is rejected when the key belongs to another call, and when the key is invalid', async () => {
    const { project, traces } = tracing();
    using _ = project;
    const { end } = await project.run(['--idempotency-key', 'k', ...APPEND]);
    const other = await project.envelope(['run', '--idempotency-key', 'k', ...APPEND, '--then', 'stays']);
    assert.deepEqual([other.code, other.error.code], [1, 'E_USAGE']);
    assert.match(other.error.message, /belongs to another call/);
    assert.deepEqual(other.meta.next, [`acor show ${end.run_id}`]);
    for (const key of ['', ' ', 'x'.repeat(201)]) {
      const refused = await project.envelope(['run', '--idempotency-key', key, ...APPEND]);
      assert.equal(refused.error.code, 'E_USAGE', key);
    }
    assert.equal(traces().length, 1);
  });

  it('is the run of the same call in another spelling, and never of one whose secret may differ', async () => {
    const { project, traces } = tracing();
    using _ = project;
    const { end } = await project.run(['--idempotency-key', 'k', ...APPEND]);
    for (const spelling of [
      ['--folder=traces'],
      ['--input-json', '{"folder":"traces"}'],
      ['--then', 'ends'],
    ]) {
      const args = spelling[0] === '--then' ? ['--folder', 'traces', ...spelling] : spelling;
      const { data } = await project.envelope([
        'run',
        '--idempotency-key',
        'k',
        'appends',
        ...args,
        '--detach',
      ]);
      assert.deepEqual([data?.run_id, spelling], [end.run_id, spelling]);
    }
    assert.equal(traces().length, 1);
    project.write('tools/signs/cli.sh', '#!/bin/bash\ntrue\n', 0o755);
    project.write(
      'tools/signs/tool.yaml',
      'name: signs\nadapter: plain\ninputs: [{ name: pin, type: string, secret: true }]\n',
    );
    await project.run(['--idempotency-key', 's', 'signs', '--pin', 'first-pin']);
    for (const args of [['--pin', 'other-pin'], ['--pin=first-pin']]) {
      const { error } = await project.envelope(['run', '--idempotency-key', 's', 'signs', ...args]);
      assert.match(error.message, /belongs to another call/);
    }
  });

  it('may be started with the key again after acor clean has removed it', async () => {
    const { project, traces } = tracing();
    using _ = project;
    await project.run(['--idempotency-key', 'k', ...APPEND]);
    await project.envelope(['clean', '--keep', '0']);
    await project.run(['--idempotency-key', 'k', ...APPEND]);
    assert.equal(traces().length, 2);
  });

  it('does not start when the key cannot be synced to the disk', needsStrace, async () => {
    const { project, traces } = tracing();
    using _ = project;
    // The key is synced before anything of the run exists, so it is the first file that is.
    const trace = [
      '-f',
      '-qq',
      '-o',
      '/dev/null',
      '-e',
      'trace=fsync',
      '-e',
      'inject=fsync:error=EIO:when=1',
    ];
    const call = [ACOR, 'run', '--no-stream', '--idempotency-key', 'k', ...APPEND];
    const { stdout } = spawnSync('strace', [...trace, ...call], {
      cwd: project.root,
      env: project.environment(),
      encoding: 'utf8',
    });
    const { error } = JSON.parse(stdout);
    assert.equal(error?.code, 'E_STORAGE', stdout);
    assert.match(error.message, /store the idempotency key/);
    assert.deepEqual(project.runIds(), []);
    const again = await project.run(['--idempotency-key', 'k', ...APPEND]);
    assert.equal(again.end.state, 'completed');
    assert.equal(traces().length, 1);
  });
});
