import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { userName } from '../../src/util/users.ts';
import { ACOR, parseLines, processesOf, readRun, TestProject } from '../support/project.ts';
import { KEYS, noTerminal, Terminal } from '../support/terminal.ts';

const hasPython = spawnSync('sh', ['-c', 'command -v python3']).status === 0;

const logOf = (project: TestProject, runId: string) => join(project.runsDir, runId, 'events.jsonl');

async function runOf(project: TestProject, ...args: string[]): Promise<string> {
  return String((await project.run(args)).end.run_id);
}

/** Every file of the store, with its size and the time of its last write. */
function storeOf({ runsDir }: TestProject): string[] {
  return readdirSync(runsDir, { recursive: true, encoding: 'utf8' })
    .sort()
    .map((name) => {
      const { size, mtimeMs } = statSync(join(runsDir, name));
      return `${name} ${size} ${mtimeMs}`;
    });
}

/** Moves the events of a run, from one event on, by an hour, as if the tool had paused there, or only the clock had been set. */
function pauseBefore(project: TestProject, runId: string, type: string, isClock = false): void {
  const events = project.events(runId);
  const from = events.findIndex((event) => event.type === type);
  const later = events.map((event, index) => {
    if (index < from) return event;
    const ts = new Date(Date.parse(String(event.ts)) + 3_600_000).toISOString();
    const paused = event.type === 'runner_end' && !isClock && { duration_s: Number(event.duration_s) + 3600 };
    return { ...event, ts, ...paused };
  });
  writeFileSync(logOf(project, runId), later.map((event) => `${JSON.stringify(event)}\n`).join(''));
}

describe('replay', () => {
  let project: TestProject;
  before(() => {
    project = new TestProject({ tools: ['quick', 'exits_with', 'many_events', 'waits', 'right_hash'] });
  });
  after(() => project[Symbol.dispose]());

  it('emits the events byte for byte, at their pace or at once, starts nothing and writes nothing', async () => {
    const runId = await runOf(project, 'right_hash');
    const recorded = readFileSync(logOf(project, runId), 'utf8');
    const store = storeOf(project);
    for (const flags of [[], ['--speed', '3'], ['--at-once']]) {
      const { stdout, stderr, code } = await project.acor(['replay', runId, ...flags]);
      assert.deepEqual([stdout === recorded, stderr, code], [true, '', 0], flags.join(' '));
    }
    assert.deepEqual(storeOf(project), store);
    assert.deepEqual(processesOf(runId), []);
  });

  it('emits a run of many events completely', async () => {
    const runId = await runOf(project, 'many_events', '20000');
    const { stdout, code } = await project.acor(['replay', runId, '--at-once']);
    assert.deepEqual([stdout === readFileSync(logOf(project, runId), 'utf8'), code], [true, 0]);
  });

  it("ends with the exit code of the run's state", async () => {
    const failed = await project.acor(['replay', await runOf(project, 'exits_with', '9')]);
    assert.deepEqual([failed.code, readRun(failed).end.state], [1, 'failed']);
  });

  it('waits where the run waited, except at a high speed or with --at-once, and Ctrl-C ends it', async () => {
    const runId = await runOf(project, 'right_hash');
    pauseBefore(project, runId, 'runner_end');
    const all = project.events(runId);
    const waiting = project.start(['replay', runId]);
    await waiting.event('runner_state', 'completed');
    for (const flags of [['--at-once'], ['--speed', '1e6']]) {
      assert.deepEqual(parseLines((await project.acor(['replay', runId, ...flags])).stdout), all);
    }
    waiting.child.kill('SIGINT');
    const { stdout, stderr, code } = await waiting.finished;
    assert.deepEqual([parseLines(stdout), stderr, code], [all.slice(0, -1), '', 130]);
  });

  it('does not wait for an hour by which the clock was set during the run', async () => {
    const runId = await runOf(project, 'right_hash');
    pauseBefore(project, runId, 'result', true);
    const { stdout, code } = await project.acor(['replay', runId]);
    assert.deepEqual([parseLines(stdout), code], [project.events(runId), 0]);
  });

  it('ends silently when its reader closes the pipe', async () => {
    const runId = await runOf(project, 'many_events', '20000');
    const script = `"$0" replay ${runId} --at-once | head -n 1; echo "$PIPESTATUS"`;
    const { stdout, stderr } = spawnSync('bash', ['-c', script, ACOR], {
      cwd: project.root,
      encoding: 'utf8',
    });
    const [first, code] = stdout.trimEnd().split('\n');
    assert.deepEqual([JSON.parse(first!).type, code, stderr], ['runner_start', '0', '']);
  });

  it('is rejected for a live run, and for an unknown run', async () => {
    const running = project.start(['run', 'waits']);
    const runId = String((await running.event('heartbeat')).run_id);
    for (const flags of [[], ['--execute']]) {
      const { code, error, meta } = await project.envelope(['replay', runId, ...flags]);
      assert.deepEqual([code, error.code, meta.next], [1, 'E_USAGE', [`acor attach ${runId}`]]);
    }
    await project.envelope(['cancel', runId]);
    await running.finished;
    assert.equal((await project.acor(['replay', runId, '--at-once'])).code, 1);
    const absent = await project.envelope(['replay', 'r-0000000000000000']);
    assert.deepEqual([absent.code, absent.error.code], [1, 'E_RUN_NOT_FOUND']);
  });

  it('rejects flags without effect, with a hint', async () => {
    const runId = await runOf(project, 'quick');
    for (const [flags, message] of [
      [['--speed', '2', '--at-once'], /--speed and --at-once cannot be combined/],
      [['--speed', '0'], /--speed must be greater than 0, not 0/],
      [['--no-stream'], /--no-stream needs --execute/],
      [['--dry-run', '--force'], /--dry-run and --force needs? --execute/],
      [['--execute', '--at-once'], /--at-once cannot be combined with --execute/],
    ] as const) {
      const { code, error, meta } = await project.envelope(['replay', runId, ...flags]);
      assert.deepEqual([code, error.code], [1, 'E_USAGE'], flags.join(' '));
      assert.match(error.message, message);
      assert.ok(meta.next.length > 0);
    }
  });

  it('shows a person at a terminal the run as it was, and restores the screen on Ctrl-C', {
    skip: noTerminal,
  }, async () => {
    const runId = await runOf(project, 'many_events', '3');
    const played = new Terminal(project, ['replay', runId, '--at-once']);
    assert.equal(await played.ended, 0);
    assert.match(played.text, new RegExp(`many_events {2}${runId}\n(.*\n)*✓ completed in [\\d.]+ s\n`));
    pauseBefore(project, runId, 'runner_end');
    const waiting = new Terminal(project, ['replay', runId]);
    await waiting.shows('works');
    waiting.type(KEYS.ctrlC);
    assert.equal(await waiting.ended, 130);
    assert.doesNotMatch(waiting.text, /completed in/);
    assert.match(waiting.raw, /\r(?:\u001b\[\d+A)?\u001b\[J$/);
  });
});

describe('replay --execute', () => {
  let project: TestProject;
  before(() => {
    project = new TestProject({ tools: ['asks', 'writes_output', 'right_hash', 'quick', 'exits_with'] });
    project.write(
      'tools/copies/cli.sh',
      '#!/bin/bash\ncp "$2" "$4"; echo same > "$ARTIFACTS_DIR/always.txt"; exit "$(cat "$2.rc" 2>/dev/null || echo 0)"\n',
      0o755,
    );
    project.write(
      'tools/copies/tool.yaml',
      // Without `access`, an existing output would be treated as an input.
      'name: copies\nversion: 1.0.0\nadapter: plain\npermissions: { filesystem: { read: ["*.rc"] } }\ninputs:\n  - { name: from, type: path }\n  - { name: to, type: path }\n',
    );
    project.write(
      'tools/removes/tool.yaml',
      'name: removes\nversion: 1.0.0\nadapter: plain\neffects: destroys\ninputs:\n  - { name: what, type: path, access: write, positional: true }\n',
    );
    project.write('tools/removes/cli.sh', '#!/bin/bash\nrm -f "$1"/*\n', 0o755);
    project.write(
      'tools/knows/tool.yaml',
      'name: knows\nversion: 1.0.0\nadapter: plain\ninputs:\n  - { name: key, type: string, secret: true }\n',
    );
    project.write('tools/knows/cli.sh', '#!/bin/bash\n', 0o755);
  });
  after(() => project[Symbol.dispose]());

  /** A run of `copies`, whose output is at its target. */
  async function copied(
    name: string,
    ...flags: string[]
  ): Promise<{ runId: string; output: string; input: string }> {
    const input = project.write(`${name}.txt`, 'first\n');
    const runId = await runOf(project, ...flags, 'copies', '--from', `${name}.txt`, '--to', `${name}.out`);
    const output = project.path(`${name}.out`);
    assert.equal(readFileSync(output, 'utf8'), 'first\n');
    return { runId, output, input };
  }

  it('runs the tool again as a new run, and finds the same artifacts', async () => {
    const { runId, output } = await copied('steady');
    const { code, data, meta } = await project.envelope(['replay', runId, '--execute', '--no-stream']);
    assert.deepEqual([code, data.replays, data.state, data.same], [0, runId, 'completed', true]);
    assert.deepEqual(data.artifacts, { same: [output, 'artifacts/always.txt'], differing: [] });
    assert.equal(meta.next, undefined);
    assert.notEqual(data.run_id, runId);
    const shown = await project.envelope(['show', data.run_id]);
    assert.equal(shown.data.replays, runId);
    assert.equal((await project.envelope(['verify'])).data.ok, true);
  });

  it('reports the artifact that differs, and does not change the file at its target', async () => {
    const { runId, output, input } = await copied('changing');
    writeFileSync(input, 'second\n');
    const { code, error, meta } = await project.envelope(['replay', runId, '--execute', '--no-stream']);
    const data = error.details;
    assert.deepEqual([code, error.code], [1, 'E_CONFLICT']);
    assert.match(error.action, /^Compare both/);
    assert.deepEqual([data.state, data.same], ['completed', false]);
    assert.deepEqual(data.artifacts.same, ['artifacts/always.txt']);
    const [{ path, recorded, now }, ...others] = data.artifacts.differing;
    assert.deepEqual([path, recorded.path, recorded.size, now.size, others], [output, output, 6, 7, []]);
    assert.notEqual(recorded.sha256, now.sha256);
    assert.deepEqual(meta.next, [`acor artifacts ${runId}`, `acor artifacts ${data.run_id}`]);
    assert.equal(readFileSync(output, 'utf8'), 'first\n');
    assert.equal(readFileSync(now.path, 'utf8'), 'second\n');
    const again = await project.envelope(['replay', data.run_id, '--execute', '--no-stream']);
    assert.deepEqual([again.code, again.data.artifacts.same], [0, [output, 'artifacts/always.txt']]);
  });

  it('streams the new run, and reports the differences on stderr', async () => {
    const { runId, input, output } = await copied('streamed');
    const same = await project.acor(['replay', runId, '--execute']);
    const { end } = readRun(same);
    assert.deepEqual([same.code, end.state], [0, 'completed']);
    assert.equal(same.stderr, `acor: run ${end.run_id} made the same 2 artifacts as run ${runId}\n`);
    writeFileSync(input, 'other\n');
    const { code, stderr } = await project.acor(['replay', runId, '--execute']);
    assert.equal(code, 1);
    assert.match(stderr, /1 of 2 artifacts differ between run/);
    assert.ok(stderr.includes(`acor: ${output}: recorded 6 bytes, sha256 `), stderr);
  });

  it('reports a run that fails this time as a failure, and its next attempt also overwrites nothing', async () => {
    const { runId, output, input } = await copied('failing');
    writeFileSync(input, 'third\n');
    writeFileSync(`${input}.rc`, '1');
    const failed = await project.envelope(['replay', runId, '--execute', '--no-stream']);
    assert.deepEqual([failed.code, failed.error.code], [1, 'E_TOOL_FAILED']);
    const { run_id, replays, same, artifacts } = failed.error.details;
    assert.deepEqual([replays, same, artifacts.differing.length], [runId, false, 2]);
    writeFileSync(`${input}.rc`, '0');
    const retried = await project.envelope(['retry', run_id, '--no-stream']);
    assert.deepEqual([retried.code, retried.data.state], [0, 'completed']);
    assert.equal(readFileSync(output, 'utf8'), 'first\n');
  });

  it(
    'uses the recorded answers, without asking',
    hasPython ? {} : { skip: 'python3 is not here' },
    async () => {
      const asked = parseLines((await project.acor(['run', 'asks'])).stdout);
      const runId = String(asked[0]!.run_id);
      await project.envelope(['answer', runId, 'a-1', '--choice', 'fast', '--by', 'the tester']);
      await project.envelope(['wait', runId]);
      const { of, code, end } = readRun(await project.acor(['replay', runId, '--execute']));
      assert.deepEqual([code, end.state, of('result')[0]!.data], [0, 'completed', { answer: 'fast' }]);
      const [answer, ...more] = of('action_answered');
      assert.deepEqual(
        [answer!.by, answer!.source, answer!.reason, more],
        [userName(), 'beforehand', `as it was answered in run ${runId}`, []],
      );
      assert.deepEqual(
        of('runner_state').map(({ to }) => to),
        ['running', 'completed'],
      );
    },
  );

  it('shows with --dry-run what would run and the command that runs it, and starts nothing', async () => {
    const { runId, output } = await copied('planned', '--timeout', '77');
    const runs = project.runIds();
    const { code, data, meta } = await project.envelope(['replay', runId, '--execute', '--dry-run']);
    assert.deepEqual([code, data.tool, data.staged], [0, 'copies', [{ input: 'to', target: output }]]);
    assert.equal(data.limits.timeout_s, 77);
    assert.deepEqual(meta.next, [`acor replay ${runId} --execute --plan ${data.token}`]);
    assert.deepEqual(project.runIds(), runs);
    const { stdout } = await project.acor(meta.next[0].split(' ').slice(1));
    assert.equal(parseLines(stdout).at(-1)!.state, 'completed');
    const stale = await project.envelope(['replay', runId, '--execute', '--plan', 'plan-0', '--no-stream']);
    assert.deepEqual([stale.code, stale.error.code], [2, 'E_POLICY_DENIED']);
  });

  it('does not repeat a destructive run unless it is forced to', async () => {
    project.write('doomed/one', '');
    const runId = await runOf(project, 'removes', 'doomed');
    const kept = project.write('doomed/two', '');
    const runs = project.runIds();
    const refused = await project.envelope(['replay', runId, '--execute']);
    assert.deepEqual([refused.code, refused.error.code], [1, 'E_USAGE']);
    assert.match(refused.error.hint, /--force/);
    const planned = await project.envelope(refused.meta.next[0].split(' ').slice(1));
    assert.deepEqual([project.runIds(), existsSync(kept)], [runs, true]);
    const forced = await project.acor(planned.meta.next[0].split(' ').slice(1));
    assert.deepEqual([forced.code, existsSync(kept)], [0, false]);
  });

  it('is rejected for a run with a secret argument, which replay without --execute can still emit', async () => {
    const runId = await runOf(project, 'knows', '--key', 'hunter22');
    const { code, error } = await project.envelope(['replay', runId, '--execute']);
    assert.deepEqual([code, error.code], [1, 'E_USAGE']);
    assert.match(error.message, /secret/);
    const { stdout, code: played } = await project.acor(['replay', runId, '--at-once']);
    assert.equal(played, 0);
    assert.doesNotMatch(stdout, /hunter22/);
  });
});
