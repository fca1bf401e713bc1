import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Schedule } from '../../src/core/schedule/schedule.ts';
import { splitCommand } from '../../src/util/shell-words.ts';
import { TestServer } from '../support/http-server.ts';
import { TestProject, until, WITHOUT_SANDBOX } from '../support/project.ts';

const EVERY_SECOND = '* * * * * *';
const NEVER_NOW = '0 3 1 1 *';
const AGENT = { AI_AGENT: 'planner' };

let project: TestProject;
let server: TestServer | undefined;

beforeEach(() => {
  project = new TestProject({ tools: ['quick', 'asks', 'heeds_cancel'], config: WITHOUT_SANDBOX });
});

afterEach(async () => {
  await server?.stop();
  server = undefined;
  await project.supervisorsExited();
  project[Symbol.dispose]();
});

async function serve(flags: readonly string[] = []): Promise<void> {
  server = await TestServer.start(project, flags);
}

/** The server ends without a chance to write anything. */
async function killServer(): Promise<void> {
  server!.running.child.kill('SIGKILL');
  await server!.running.finished;
  server = undefined;
}

function fileOf(name: string): string {
  const folder = project.path('data', 'acor', 'schedules');
  return join(folder, readdirSync(folder)[0]!, `${name}.json`);
}

function stored(name: string): Schedule {
  return JSON.parse(readFileSync(fileOf(name), 'utf8'));
}

/** Writes a schedule as a process that was killed could have left it. */
function leave(name: string, change: Partial<Schedule>): void {
  writeFileSync(fileOf(name), JSON.stringify({ ...stored(name), ...change }));
}

function recordOf(run: string): Record<string, unknown> {
  return JSON.parse(readFileSync(join(project.runsDir, run, 'metadata.json'), 'utf8'));
}

async function add(args: readonly string[], env: Record<string, string> = {}) {
  const answer = await project.envelope(['schedule', 'add', ...args], { env });
  assert.equal(answer.ok, true, JSON.stringify(answer));
  return answer;
}

const started = (name: string) => stored(name).history.filter(({ outcome }) => outcome === 'started');
const yesterday = () => new Date(Date.now() - 86_400_000).toISOString();

describe('a schedule', () => {
  it('that lacks something is refused with the help of the command that was called', async () => {
    const { error } = await project.envelope(['watch', 'quick']);
    assert.match(error.hint, /acor watch --help/);
    const { error: other } = await project.envelope(['schedule', 'add', 'quick']);
    assert.match(other.hint, /acor schedule add --help/);
  });

  it('without a name that can be one is refused with an example of the command that was called', async () => {
    project.write('flows/quick.yaml', 'version: 1\nsteps: [{ name: a, tool: quick }]\n');
    const flow = ['flows/quick.yaml', '--workflow'];
    const { error } = await project.envelope(['watch', ...flow, '--on', '*.md']);
    assert.match(error.message, /--name is required/);
    assert.match(error.hint, /acor watch flows\/quick.yaml --workflow --name my-watch --on '\*\.md'/);
    const { error: other } = await project.envelope(['schedule', 'add', ...flow, '--cron', NEVER_NOW]);
    assert.match(other.hint, /acor schedule add flows\/quick.yaml --workflow --name my-schedule --cron /);
    project.write('workflows/my flow.yaml', 'version: 1\nsteps: [{ name: a, tool: quick }]\n');
    const spaced = await project.envelope(['schedule', 'add', 'my flow', '--workflow', '--cron', NEVER_NOW]);
    const [, command] = /acor (schedule add .*?)(?: \(see| See|$)/.exec(spaced.error.hint)!;
    const copied = await project.envelope([...splitCommand(command!)!, '--dry-run']);
    assert.deepEqual([copied.ok, copied.data?.workflow], [true, true], JSON.stringify(copied));
  });

  it('shows no secret among its arguments, and passes it to its runs', async () => {
    const secret = 'hunter2-of-the-schedule';
    project.write(
      'tools/keyed/tool.yaml',
      'name: keyed\nversion: 1.0.0\nadapter: plain\ninputs: [{ name: key, type: string, secret: true }, { name: day, type: string }]\n',
    );
    project.write('tools/keyed/cli.sh', 'test "$2" = hunter2-of-the-schedule && echo passed\n');
    const args = ['--key', secret, '--day', 'monday'];
    const words = ['keyed', '--name', 'masked', ...args];
    await serve();
    const answers = [
      await project.acor(['schedule', 'add', ...words, '--cron', EVERY_SECOND, '--dry-run']),
      await project.acor(['watch', ...words, '--on', '*.md', '--dry-run']),
      await project.acor(['schedule', 'add', ...words, '--cron', EVERY_SECOND]),
      await project.acor(['schedule', 'list']),
      await project.acor(['schedule', 'list', '--format', 'text']),
      await project.acor(['schedule', 'show', 'masked']),
      { stdout: (await server!.get('/api/v1/schedule.list')).text },
    ];
    await until(() => started('masked').length > 0);
    const run = started('masked')[0]!.run_id!;
    await project.envelope(['wait', run]);
    answers.push(
      await project.acor(['schedule', 'pause', 'masked']),
      await project.acor(['schedule', 'resume', 'masked']),
      await project.acor(['schedule', 'rm', 'masked']),
    );
    for (const { stdout } of answers) {
      assert.doesNotMatch(stdout, new RegExp(secret));
      assert.match(stdout, /--key\W+\[secret\]\W+--day\W+monday/);
    }
    assert.equal(recordOf(run)['state'], 'completed');
    const { data } = await add(['keyed', '--day', 'monday', '--timeout', '77', '--cron', NEVER_NOW]);
    assert.deepEqual(data.args, ['--day', 'monday', '--timeout', '77']);
  });

  it('that was only checked needs no server', async () => {
    const { data, meta } = await add(['quick', '--cron', NEVER_NOW, '--dry-run']);
    assert.equal(data.dry_run, true);
    assert.equal(meta.next, undefined);
  });

  it('that is paused without a reason has none', async () => {
    await add(['quick', '--cron', NEVER_NOW, '--name', 'rare']);
    assert.equal((await project.envelope(['schedule', 'pause', 'rare'])).data.why, null);
  });

  it('that is paused again keeps the newest reason', async () => {
    await add(['quick', '--cron', NEVER_NOW, '--name', 'rare']);
    const pause = async (...flags: string[]) =>
      (await project.envelope(['schedule', 'pause', 'rare', ...flags])).data.why;
    assert.equal(await pause('--reason', 'first'), 'first');
    const { at } = stored('rare').paused!;
    assert.equal(await pause(), 'first');
    assert.equal(await pause('--reason', 'second'), 'second');
    assert.deepEqual(stored('rare').paused, { at, why: 'second' });
  });

  it('is listed for a person with when it runs, the next time and what it did last', async () => {
    const none = await project.acor(['schedule', 'list', '--format', 'text']);
    assert.match(none.stdout, /^No schedules\. Add one with: acor schedule add/);
    await add(['quick', '--cron', NEVER_NOW, '--timezone', 'UTC', '--name', 'yearly']);
    await add(['quick', '--cron', EVERY_SECOND, '--name', 'stopped']);
    await project.envelope(['schedule', 'pause', 'stopped']);
    const run = 'r-0123456789abcdef';
    leave('yearly', { history: [{ at: yesterday(), outcome: 'started', run_id: run, why: null }] });
    const { stdout } = await project.acor(['schedule', 'list', '--format', 'text'], {
      env: { TZ: 'UTC', COLUMNS: '160' },
    });
    const [head, stopped, yearly, , note] = stdout.split('\n');
    assert.match(head!, /^name +state +runs +when +next \(local time\) +last/);
    assert.match(stopped!, /^stopped +paused +quick +\* \* \* \* \* \* \(\S+\)$/);
    assert.match(
      yearly!,
      /^yearly +active +quick +0 3 1 1 \* \(UTC\) +\d{4}-01-01 03:00:00 +started 1 d ago r-0123456789abcdef$/,
    );
    assert.equal(note, 'No server runs them now.');
  });

  it('is shown to a person with what it runs, when, and what it did', async () => {
    await add(['quick', '--cron', NEVER_NOW, '--timezone', 'UTC', '--name', 'yearly', '--jitter', '5m']);
    const run = 'r-0123456789abcdef';
    leave('yearly', { history: [{ at: yesterday(), outcome: 'started', run_id: run, why: null }] });
    const { stdout } = await project.acor(['schedule', 'show', 'yearly', '--format', 'text'], {
      env: { TZ: 'UTC', COLUMNS: '160' },
    });
    assert.match(stdout, /^active {2}yearly$/m);
    assert.match(stdout, /^runs +quick$/m);
    assert.match(stdout, /^when +0 3 1 1 \* \(UTC\)$/m);
    assert.match(stdout, /^delay +each time by up to 5 min/m);
    assert.match(stdout, /^next \(local time\) +\d{4}-01-01 03:0\d:\d\d, /m);
    assert.match(stdout, /^\d{4}-\d\d-\d\d [\d:]+ +started +r-0123456789abcdef$/m);
    assert.match(stdout, /^No server runs the schedules now\.$/m);
    assert.doesNotMatch(stdout, /jitter_s|created_at/);
  });

  it('starts runs while a server runs, each with the schedule as its caller and a key of its time', async () => {
    const { data, meta } = await add(['quick', '--cron', EVERY_SECOND, '--name', 'often']);
    assert.deepEqual([data.served, meta.next], [false, ['acor serve']]);
    await serve();
    await until(() => started('often').length >= 2);
    const [last] = started('often');
    const record = recordOf(last!.run_id!);
    assert.deepEqual(
      [record['caller'], record['idempotency_key']],
      ['schedule:often', `schedule:often:${last!.at}`],
    );
    const { data: shown } = await project.envelope(['schedule', 'show', 'often']);
    assert.deepEqual([shown.served, shown.upcoming.length, shown.by], [true, 5, data.by]);
    await project.acor(['schedule', 'rm', 'often']);
    assert.equal((await project.envelope(['schedule', 'list'])).data.schedules.length, 0);
  });

  it('passes arguments and flags as acor run does, and starts workflows', async () => {
    project.write(
      'workflows/flow.yaml',
      'inputs: { day: { type: string } }\nsteps: [{ name: a, tool: quick }]\n',
    );
    await add(['flow', '--workflow', '--cron', EVERY_SECOND, '--day', 'monday', '--timeout', '77']);
    await serve();
    await until(() => started('flow').length >= 1);
    const record = recordOf(started('flow')[0]!.run_id!);
    assert.deepEqual([record['kind'], record['timeout_s'] ?? 77], ['workflow', 77]);
    await project.acor(['schedule', 'pause', 'flow']);
  });

  it('starts nothing twice and loses nothing when the server is killed again and again', async () => {
    await add(['quick', '--cron', EVERY_SECOND, '--name', 'often', '--missed', 'all']);
    const since = Date.now();
    for (let kills = 0; kills < 5; kills++) {
      await serve();
      const before = started('often').length;
      // A run appears before the schedule has it: the kill comes in between, or soon after.
      const runs = project.runIds().length;
      await until(() => project.runIds().length > runs || started('often').length > before);
      await killServer();
    }
    await serve();
    const first = Date.parse(stored('often').created_at);
    await until(() => Date.parse(stored('often').settled) > since + 5000);
    await project.acor(['schedule', 'pause', 'often']);
    await until(() => stored('often').pending === null);
    const times = project
      .runIds()
      .map((run) => String(recordOf(run)['idempotency_key']).slice('schedule:often:'.length))
      .sort();
    assert.equal(new Set(times).size, times.length, 'a time has two runs');
    const expected = times.map((_, at) =>
      new Date(Math.floor(first / 1000) * 1000 + (at + 1) * 1000).toISOString(),
    );
    assert.deepEqual(times, expected, 'a time has no run');
  });

  it('finds the run again that a killed server had started without noting it', async () => {
    await add(['quick', '--cron', EVERY_SECOND, '--name', 'rare']);
    await serve();
    await until(() => started('rare').length > 0);
    await project.acor(['schedule', 'pause', 'rare']);
    await until(() => stored('rare').pending === null);
    const runs = project.runIds();
    const { at, run_id } = started('rare')[0]!;
    await killServer();
    const key = `schedule:rare:${at}`;
    leave('rare', {
      trigger: { ...stored('rare').trigger, cron: NEVER_NOW } as Schedule['trigger'],
      paused: null,
      history: [],
      pending: { at, key, settles: at },
    });
    await serve();
    await until(() => stored('rare').pending === null);
    assert.deepEqual([started('rare')[0]!.run_id, project.runIds()], [run_id, runs]);
  });

  it('is not kept from its run, nor made to start it early, by a caller who uses its key or its name', async () => {
    const at = '2026-01-01T03:00:00.000Z';
    const key = `schedule:rare:${at}`;
    await add(['quick', '--cron', NEVER_NOW, '--name', 'rare']);
    for (const env of [{}, AGENT, { AI_AGENT: 'schedule:rare' }]) {
      for (const words of [
        ['run', 'quick', '--detach'],
        ['run', 'quick'],
      ]) {
        const { error } = await project.envelope([...words, '--idempotency-key', key], { env });
        assert.deepEqual([error?.code, project.runIds()], ['E_USAGE', []]);
      }
    }
    leave('rare', { pending: { at, key, settles: at } });
    await serve();
    await until(() => stored('rare').pending === null);
    assert.deepEqual(
      started('rare').map(({ run_id }) => run_id),
      project.runIds(),
    );
    assert.equal(recordOf(project.runIds()[0]!)['caller'], 'schedule:rare');
    const { data } = await project.envelope(['run', 'quick'], { env: { AI_AGENT: 'schedule:rare' } });
    assert.equal(recordOf(data.run_id)['caller'], 'agent:schedule:rare');
  });

  it('starts the run that a killed server had only noted', async () => {
    await add(['quick', '--cron', NEVER_NOW, '--name', 'rare']);
    const at = '2026-01-01T03:00:00.000Z';
    leave('rare', { pending: { at, key: 'noted', settles: at } });
    await serve();
    await until(() => stored('rare').pending === null);
    assert.equal(recordOf(started('rare')[0]!.run_id!)['idempotency_key'], 'noted');
  });

  for (const [missed, runs] of [
    ['once', 1],
    ['skip', 0],
  ] as const)
    it(`makes up for missed times by its policy: ${missed}`, async () => {
      // The half hour that is furthest from now, so that none comes during the test.
      const minute = (new Date().getUTCMinutes() + 30) % 60;
      await add([
        'quick',
        '--cron',
        `${minute} * * * *`,
        '--timezone',
        'UTC',
        '--missed',
        missed,
        '--name',
        'm',
      ]);
      leave('m', { settled: yesterday() });
      await serve();
      await until(() => stored('m').history.length === runs + 1);
      const { history } = stored('m');
      assert.equal(started('m').length, runs);
      assert.match(history.at(-1)!.why!, new RegExp(`^${24 - runs} times were missed: no server ran$`));
    });

  it('does not start a second run while its last one has not ended, and says so', async () => {
    await add(['heeds_cancel', '--cron', EVERY_SECOND]);
    await serve();
    await until(() => stored('heeds_cancel').history.some(({ outcome }) => outcome === 'skipped'));
    const [run, ...others] = started('heeds_cancel').map(({ run_id }) => run_id);
    assert.deepEqual(others, []);
    assert.match(
      stored('heeds_cancel').history[0]!.why!,
      new RegExp(`^run ${run} of this schedule had not ended$`),
    );
    await project.acor(['schedule', 'pause', 'heeds_cancel', '--reason', 'enough']);
    await project.acor(['cancel', run!]);
  });

  it('that is paused starts nothing, and what it missed then is not made up for', async () => {
    await add(['quick', '--cron', EVERY_SECOND, '--name', 'often']);
    await project.acor(['schedule', 'pause', 'often', '--reason', 'a migration']);
    await add(['quick', '--cron', EVERY_SECOND, '--name', 'other']);
    await serve();
    await until(() => started('other').length >= 2);
    assert.deepEqual(stored('often').history, []);
    const { data } = await project.envelope(['schedule', 'show', 'often']);
    assert.deepEqual([data.state, data.why, data.next_at], ['paused', 'a migration', null]);
    leave('often', { settled: yesterday() });
    await project.acor(['schedule', 'resume', 'often']);
    await until(() => started('often').length >= 1);
    assert.deepEqual(
      stored('often').history.filter(({ outcome }) => outcome !== 'started'),
      [],
    );
  });

  it('that is paused starts nothing while it is being changed', async () => {
    await add(['quick', '--cron', EVERY_SECOND, '--name', 'often']);
    await project.acor(['schedule', 'pause', 'often']);
    // As `schedule resume` has it before it renames its file.
    const resumed = JSON.stringify({ ...stored('often'), paused: null });
    writeFileSync(`${fileOf('often')}.1-a-0.tmp`, resumed, { mode: 0o600 });
    await add(['quick', '--cron', EVERY_SECOND, '--name', 'other']);
    await serve();
    await until(() => started('other').length >= 2);
    assert.deepEqual(stored('often').history, []);
  });

  it('is run by one server of a project, and by the next when that one is killed', async () => {
    await add(['quick', '--cron', EVERY_SECOND, '--name', 'often']);
    await serve();
    const second = await TestServer.start(project);
    await until(() => started('often').length >= 1);
    await killServer();
    const before = started('often').length;
    await until(() => started('often').length >= before + 1);
    await second.stop();
    const keys = project.runIds().map((run) => recordOf(run)['idempotency_key']);
    assert.equal(new Set(keys).size, keys.length);
  });

  it('is refused when its runs could not start', async () => {
    for (const [args, about] of [
      [['no_such_tool', '--cron', NEVER_NOW], /there is no tool/],
      [['quick', '--cron', '61 * * * *'], /cron expression "61 \* \* \* \*" is invalid/],
      [['quick', '--cron', 'bad'], /"bad" is invalid: it has 1 field, not 5 or 6$/],
      [['quick', '--cron', '0 0 0 1 1 * 2027'], /is invalid: it has 7 fields, not 5 or 6$/],
      [['quick', '--cron', '0 0 30 2 *'], /names no time that will come/],
      [['quick', '--cron', NEVER_NOW, '--timezone', 'Mars'], /there is no time zone "Mars"/],
      [['quick'], /--cron is required/],
      [['quick', '--cron', NEVER_NOW, '--idempotency-key', 'k'], /--idempotency-key belongs to one call/],
      [['quick', '--cron', NEVER_NOW, '--input-json', '-'], /no standard input/],
    ] as const) {
      const { error } = await project.envelope(['schedule', 'add', ...args]);
      assert.match(error.message, about);
    }
    await add(['quick', '--cron', NEVER_NOW]);
    assert.match(
      (await project.envelope(['schedule', 'add', 'quick', '--cron', NEVER_NOW])).error.message,
      /already/,
    );
  });

  it('whose tool has gone says why it starts nothing', async () => {
    await add(['quick', '--cron', EVERY_SECOND]);
    rmSync(project.path('tools', 'quick'), { recursive: true });
    await serve();
    // A slow start of the server misses times.
    const attempts = () => stored('quick').history.filter(({ why }) => !why?.startsWith('a time was missed'));
    await until(() => attempts().length > 0);
    assert.match(attempts()[0]!.why!, /^E_TOOL_NOT_FOUND: there is no tool 'quick'$/);
  });

  it('is not a part of the project: a copy of its folder starts nothing', async () => {
    await add(['quick', '--cron', EVERY_SECOND, '--name', 'often']);
    const hits: string[] = [];
    const look = (folder: string) => {
      for (const entry of readdirSync(folder, { withFileTypes: true })) {
        const path = join(folder, entry.name);
        if (path === project.path('data')) continue;
        if (entry.isDirectory()) look(path);
        else if (entry.isFile() && readFileSync(path, 'utf8').includes('often')) hits.push(path);
      }
    };
    look(project.root);
    assert.deepEqual(hits, []);
  });
});

describe('a policy', () => {
  const letRun = (...callers: string[]) =>
    project.write('.acor/policy.yaml', JSON.stringify({ who_may: { run: callers, answer_own: ['user'] } }));

  it('decides who may add a schedule, and again at each of its runs', async () => {
    letRun('user');
    const { error } = await project.envelope(['schedule', 'add', 'quick', '--cron', EVERY_SECOND], {
      env: AGENT,
    });
    assert.equal(error.code, 'E_POLICY_DENIED');
    letRun('user', 'agent:planner');
    await add(['quick', '--cron', EVERY_SECOND], AGENT);
    letRun('user');
    await serve();
    await until(() => stored('quick').history.length > 0);
    assert.match(stored('quick').history[0]!.why!, /^E_POLICY_DENIED: agent:planner may not start runs/);
    // The control: the same schedule starts runs when the policy names its author again.
    letRun('user', 'agent:planner');
    await until(() => started('quick').length > 0);
  });

  it('keeps the author of a schedule, and no one else, from answering the questions of its runs', async () => {
    letRun('user', 'agent');
    await add(['asks', '--cron', EVERY_SECOND], AGENT);
    await serve();
    await until(() => started('asks').length > 0);
    await project.acor(['schedule', 'pause', 'asks']);
    const run = started('asks')[0]!.run_id!;
    await until(() => project.record(run)?.state === 'waiting_ai');
    const answer = (env: Record<string, string>) =>
      project.envelope(['answer', run, '--choice', 'fast'], { env });
    assert.match(
      (await answer(AGENT)).error.message,
      /agent:planner may not answer questions of a run that the same caller/,
    );
    assert.equal((await answer({ AI_AGENT: 'reviewer' })).ok, true);
  });

  it('of a server that allows clients nothing does not stop its schedules, and clients can change none', async () => {
    await add(['quick', '--cron', EVERY_SECOND, '--name', 'often']);
    await serve();
    await until(() => started('often').length > 0);
    assert.equal((await server!.call('schedule.pause', { name: 'often' })).json.error.code, 'E_PERMISSION');
    assert.equal((await server!.call('schedule.list')).json.data.schedules[0].name, 'often');
  });
});

describe('a watch', () => {
  /** In one step, so that a busy machine sees no half of it. */
  const change = (path: string, text: string) => {
    mkdirSync(dirname(project.path(path)), { recursive: true });
    renameSync(project.write('next', text), project.path(path));
  };

  const watch = async (args: readonly string[]) => {
    const answer = await project.envelope(['watch', ...args]);
    assert.equal(answer.ok, true, JSON.stringify(answer));
  };

  it('runs its tool after a change of a matching file, and after no other', async () => {
    change('src/deep/a.ts', '1');
    change('src/other.md', '1');
    await watch(['quick', '--on', 'src/**/*.ts']);
    await serve();
    change('src/other.md', '2');
    change('src/deep/a.ts', '2');
    await until(() => started('quick').length === 1);
    assert.equal(recordOf(started('quick')[0]!.run_id!)['caller'], 'schedule:quick');
    change('src/new/folder/b.ts', 'new');
    await until(() => started('quick').length === 2);
    rmSync(project.path('src/deep/a.ts'));
    await until(() => started('quick').length === 3);
    change('src/other.md', '3');
    // A change that matches shows that the one before it was seen and left alone.
    await watch(['quick', '--on', 'sign', '--name', 'sign']);
    change('sign', '1');
    await until(() => started('sign').length === 1);
    assert.equal(started('quick').length, 3);
  });

  it('sees what changed while no server ran, once, also when servers are killed', async () => {
    change('src/a.ts', '1');
    await watch(['quick', '--on', 'src/*.ts']);
    change('src/a.ts', '22');
    await serve();
    await until(() => started('quick').length === 1);
    await killServer();
    await serve();
    change('src/a.ts', '333');
    await until(() => started('quick').length === 2);
    assert.equal(project.runIds().length, 2);
  });

  it('waits for the end of its run, then runs again for what changed meanwhile', async () => {
    await watch(['heeds_cancel', '--on', 'src/*']);
    await serve();
    change('src/a', '1');
    await until(() => started('heeds_cancel').length === 1);
    change('src/a', '22');
    const [run] = started('heeds_cancel').map(({ run_id }) => run_id!);
    await project.acor(['cancel', run!]);
    await until(() => started('heeds_cancel').length === 2);
    await project.acor(['schedule', 'pause', 'heeds_cancel']);
    await project.acor(['cancel', started('heeds_cancel')[0]!.run_id!]);
  });

  it('whose runs change what it watches is paused, with the reason', async () => {
    const path = project.path('src', 'a');
    change('src/a', '1');
    // It writes while its own run is seen to be live, so that each of its runs is followed by another.
    project.write(
      'tools/writes/cli.sh',
      `#!/bin/bash\nfor i in {1..10}; do date +%N >> '${path}'; sleep 0.2; done\n`,
      0o755,
    );
    await watch(['writes', '--on', 'src/*']);
    await serve();
    change('src/a', '22');
    await until(() => stored('writes').paused !== null);
    assert.match(stored('writes').paused!.why, /^10 runs in a row changed what it watches/);
    assert.equal(started('writes').length, 11);
  });

  it('refuses a pattern outside of the project', async () => {
    for (const pattern of ['/etc/*', '../x/*', ''])
      assert.match(
        (await project.envelope(['watch', 'quick', '--on', pattern])).error.message,
        /names no files of the project/,
      );
    for (const pattern of ['{a,b', 'a}', '{a,{b,c}}', 'x/{a'])
      assert.match(
        (await project.envelope(['watch', 'quick', '--on', pattern])).error.message,
        /has a brace without its other one/,
      );
    assert.match((await project.envelope(['watch', 'quick'])).error.message, /--on is required/);
  });
});
