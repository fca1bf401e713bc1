import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { identify, isRunning } from '../../src/util/process-table.ts';
import {
  ACOR,
  type Finished,
  parseLines,
  processesOf,
  readRun,
  TestProject,
  until,
} from '../support/project.ts';
import { watchdogsOf } from '../support/watchdogs.ts';

const canMount =
  spawnSync('unshare', ['-rm', 'mount', '-t', 'tmpfs', 'none', '/mnt'], { stdio: 'ignore' }).status === 0;
const needsMounts = canMount ? {} : { skip: 'needs unshare and a kernel that lets this user mount a tmpfs' };

describe('acor run under adverse conditions', () => {
  let project: TestProject;
  before(() => {
    project = new TestProject({
      tools: ['waits', 'heeds_cancel', 'quick', 'many_events', 'ignores_term'],
      // A tool that heeds the cancel file has a minute for it, however busy the machine is.
      config: 'version: 1\nenvironment: { cancel_grace_s: 60 }\n',
    });
  });
  after(() => project[Symbol.dispose]());

  function assertUnbroken(events: { seq: number }[]): void {
    assert.deepEqual(
      events.map(({ seq }) => seq),
      events.map((_, index) => index + 1),
    );
  }

  describe('interrupted', () => {
    it('once, lets the tool end in order', async () => {
      const running = project.start(['run', 'heeds_cancel']);
      await running.event('heartbeat');
      running.child.kill('SIGINT');
      const { end, of, code } = readRun(await running.finished);
      assert.deepEqual([end.state, end.rc, code], ['cancelled', 130, 1]);
      assert.match(String(of('cancelled')[0]!.reason), /interrupted by SIGINT/);
      assert.deepEqual(end.survivors, []);
    });

    it('twice, kills it at once, with everything that it started', async () => {
      const patient = new TestProject({
        tools: ['ignores_term'],
        config: 'version: 1\nenvironment: { cancel_grace_s: 600 }\n',
      });
      const running = patient.start(['run', '--timeout', '600', 'ignores_term']);
      const { run_id } = await running.event('start');
      running.child.kill('SIGINT');
      await until(() => existsSync(join(patient.runsDir, String(run_id), 'control', 'tool', 'CANCEL')));
      running.child.kill('SIGINT');
      const { end } = readRun(await running.finished);
      assert.deepEqual([end.state, end.signal, end.survivors], ['cancelled', 'SIGKILL', []]);
      assert.deepEqual(processesOf(String(run_id)), []);
      patient[Symbol.dispose]();
    });

    it('by the hang-up of its terminal, also lets the tool end in order', async () => {
      const running = project.start(['run', 'heeds_cancel']);
      await running.event('heartbeat');
      running.child.kill('SIGHUP');
      assert.equal(readRun(await running.finished).end.state, 'cancelled');
    });
  });

  it('is cancelled from another shell, whose caller gets the final state', async () => {
    const running = project.start(['run', 'heeds_cancel']);
    const { run_id } = await running.event('heartbeat');
    const { code, data } = await project.envelope(['cancel', String(run_id), '--reason', 'enough']);
    assert.deepEqual([code, data.state, data.was_running], [0, 'cancelled', true]);
    const { of } = readRun(await running.finished);
    assert.equal(of('cancelled')[0]!.reason, 'enough');
    const again = await project.envelope(['cancel', String(run_id)]);
    assert.deepEqual([again.code, again.data.was_running], [0, false]);
  });

  it('continues to its end when the reader of its stdout is gone, and loses nothing', async () => {
    const script = `'${ACOR}' run many_events 20000 | head -n 1`;
    const piped = spawnSync('bash', ['-c', script], { cwd: project.root, encoding: 'utf8' });
    const first = JSON.parse(piped.stdout);
    assert.equal(first.type, 'runner_start');
    const events = project.events(first.run_id);
    assertUnbroken(events);
    assert.equal(events.filter(({ type }) => type === 'progress').length, 20_000);
    assert.equal(events.at(-1)!.state, 'completed');
    assert.match(piped.stderr, /continues/);
  });

  it('is not slowed by a reader that has stopped reading', async () => {
    const running = project.start(['run', 'many_events', '40000']);
    running.child.stdout!.pause();
    const id = () => project.runIds().find((runId) => project.record(runId)?.pid === running.child.pid);
    await until(() => id() !== undefined);
    await until(() => project.record(id()!)!.state === 'completed');
    assert.equal(running.child.exitCode, null);
    running.child.stdout!.resume();
    const { events, code } = readRun(await running.finished);
    assert.equal(code, 0);
    assertUnbroken(events);
    assert.ok(events.length > 40_000);
  });

  describe('with its supervisor killed', () => {
    it('leaves no watchdog that hangs', async () => {
      const running = project.start(['run', 'waits']);
      const { run_id } = await running.event('heartbeat');
      let watchdog: number | undefined;
      await until(() => {
        [watchdog] = watchdogsOf(String(run_id));
        return watchdog !== undefined;
      });
      const hanging = identify(watchdog!);
      process.kill(watchdog!, 'SIGSTOP');
      running.child.kill('SIGKILL');
      await running.finished;
      assert.ok(isRunning(hanging));
      await project.acor(['health', '--fix']);
      await until(() => !isRunning(hanging));
      assert.deepEqual(processesOf(String(run_id)), []);
    });

    it('leaves no process, loses no emitted event, and is reported as E_RUNNER_LOST, once', async () => {
      const running = project.start(['run', 'waits']);
      const { run_id } = await running.event('heartbeat');
      const runId = String(run_id);
      assert.ok(processesOf(runId).length >= 2);
      running.child.kill('SIGKILL');
      const { stdout } = await running.finished;
      await until(() => processesOf(runId).length === 0);
      const streamed = parseLines(stdout.slice(0, stdout.lastIndexOf('\n') + 1));
      // The supervisor may have stored one more event than it streamed when it was killed.
      const stored = project.events(runId);
      assert.deepEqual(stored.slice(0, streamed.length), streamed);

      const many = await Promise.all([1, 2, 3].map(() => project.envelope(['runs', '--state', 'failed'])));
      for (const { data } of many) {
        const [line] = data.runs.filter((run: { run_id: string }) => run.run_id === runId);
        assert.deepEqual([line.state, line.code], ['failed', 'E_RUNNER_LOST']);
      }
      assert.deepEqual(project.events(runId), stored);
      assert.equal(project.record(runId)!.state, 'running');

      await Promise.all([1, 2, 3].map(() => project.acor(['health', '--fix'])));
      const events = project.events(runId);
      assertUnbroken(events);
      assert.deepEqual(
        events.filter(({ type }) => type === 'runner_end').map(({ code, survivors }) => [code, survivors]),
        [['E_RUNNER_LOST', []]],
      );
      const { data } = await project.envelope(['verify', runId]);
      assert.deepEqual([data.ok, data.runs[0].sealed], [true, true]);
    });

    it('is reported by health', async () => {
      const running = project.start(['run', 'waits']);
      const { run_id } = await running.event('heartbeat');
      running.child.kill('SIGKILL');
      await running.finished;
      await until(() => processesOf(String(run_id)).length === 0);
      const { data } = await project.envelope(['health']);
      const check = data.checks.find(({ name }: { name: string }) => name === 'store.lost_runs');
      assert.equal(check.status, 'degraded');
      assert.ok(check.detail.includes(String(run_id)));
    });

    it('is not treated as live because another process has its pid', async () => {
      const running = project.start(['run', 'waits']);
      const runId = String((await running.event('heartbeat')).run_id);
      running.child.kill('SIGKILL');
      await running.finished;
      await until(() => processesOf(runId).length === 0);
      const path = join(project.runsDir, runId, 'metadata.json');
      const record = JSON.parse(readFileSync(path, 'utf8'));
      record.supervisor.pid = process.pid;
      writeFileSync(path, JSON.stringify(record));
      assert.equal((await project.envelope(['show', runId])).data.code, 'E_RUNNER_LOST');
    });
  });

  it('runs two at once, and fifty at once, without mixing their data', async () => {
    const busy = new TestProject({ tools: ['quick', 'many_events'] });
    const runs = await Promise.all(
      Array.from({ length: 50 }, (_, i) => busy.run(i % 2 ? ['quick'] : ['many_events', '50'])),
    );
    assert.deepEqual([...new Set(runs.map(({ end }) => end.state))], ['completed']);
    assert.equal(new Set(runs.map(({ end }) => end.run_id)).size, 50);
    for (const { events } of runs) assertUnbroken(events);
    const verified = await busy.envelope(['verify']);
    assert.deepEqual([verified.ok, verified.data?.counts.runs], [true, 50], JSON.stringify(verified.error));
    busy[Symbol.dispose]();
  });

  describe('with a store that cannot be written', needsMounts, () => {
    /** Runs a command in its own mount namespace, with `.runs` on a file system with these options. */
    function acorWithStore(options: string, args: string): Finished & { kept: string } {
      const small = new TestProject({ tools: ['many_events', 'quick'] });
      small.write('.runs/.gitignore', '*\n');
      const script = `mount -t tmpfs -o ${options} none .runs && '${ACOR}' ${args}; code=$?; cat .runs/r-*/events.jsonl > '${small.path('kept')}' 2>/dev/null; exit $code`;
      const { status, signal, stdout, stderr } = spawnSync('unshare', ['-rm', 'bash', '-c', script], {
        cwd: small.root,
        encoding: 'utf8',
        maxBuffer: 1 << 27,
      });
      const kept = readFileSync(small.path('kept'), 'utf8');
      small[Symbol.dispose]();
      return { code: status, signal, stdout, stderr, kept };
    }

    it('reports a read-only store, with the fix, and starts nothing', () => {
      const { code, stdout } = acorWithStore('ro', 'run quick');
      const { ok, error } = JSON.parse(stdout);
      assert.deepEqual([code, ok, error.code], [2, false, 'E_STORAGE']);
      assert.match(error.hint, /runs_dir/);
    });

    it('reports a full store before anything starts', () => {
      const { code, stdout } = acorWithStore('size=4k', 'run quick');
      const { error } = JSON.parse(stdout);
      assert.deepEqual([code, error.code], [1, 'E_DISK_FULL']);
    });

    it('stops the tool when the store fills up, reports how the run ended, and keeps every emitted event', () => {
      const { code, stdout, kept } = acorWithStore('size=3m', 'run many_events 100000');
      const filled = readRun({ code, signal: null, stdout, stderr: '' });
      assert.deepEqual([filled.end.state, filled.end.code, code], ['failed', 'E_DISK_FULL', 1]);
      assertUnbroken(filled.events);
      assert.equal(kept, stdout);
      assert.ok(filled.of('progress').length > 100);
      assert.deepEqual(processesOf(String(filled.end.run_id)), []);
    });
  });
});
