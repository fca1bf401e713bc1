import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { verifyStore } from '../../src/core/audit/verify.ts';
import { FileRunStore } from '../../src/core/store-files/file-run-store.ts';
import { commandOf } from '../../src/operations/command-forms.ts';
import { isFinal } from '../../src/protocol/run.ts';
import { isRunning } from '../../src/util/process-table.ts';
import { needsMounts, ProjectWithMounts } from '../support/mount-namespace.ts';
import { type Finished, parseLines, processesOf, until } from '../support/project.ts';
import { checkedStates } from '../support/state-chain.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const canTrace = spawnSync('strace', ['-o', '/dev/null', 'true'], { stdio: 'ignore' }).status === 0;
const needsStrace = 'skip' in needsMounts || canTrace ? needsMounts : { skip: 'needs strace' };

const TOOLS = ['every_kind', 'quick', 'steps', 'asks', 'holds', 'asks_daemon', 'writes_two', 'many_events'];
const open = () => ProjectWithMounts.open({ tools: TOOLS });
/** With a tool that changes the folder `site`, of which ACOR keeps a snapshot. */
const openWithSnapshot = async () => {
  const project = await open();
  project.letAgents('undo');
  const write = '[{ path: site, mode: snapshot }]';
  project.write(
    'tools/works/tool.yaml',
    `name: works\nversion: 1.0.0\npermissions: { filesystem: { write: ${write} } }\n`,
  );
  const changes = 'rm old && for n in 1 2 3; do mkdir $n; echo $n > $n/n; done';
  project.write(
    'tools/works/cli.sh',
    `cd '${project.path('site')}' && ${changes}\necho '{"type":"result","status":"ok"}'\n`,
  );
  return project;
};
const SPACE = 'size=50m,nr_inodes=10000';

describe('a full store', needsMounts, () => {
  // Each limit admits one or two more writes than the one before, up to one that admits all, so that together they fail every kind of write.
  for (const [what, limitOf, kinds] of [
    [
      'has no room for a write',
      (nth: number) => `size=${(2 * nth + 3) * 4}k`,
      [
        /write the record of the run/,
        /keep the output of the tool: .*\/logs\/std(out|err)\.log/,
        /keep an answer/,
        /cannot save the checkpoint 'steps' in .*\.checkpoints/,
      ],
    ],
    [
      'has no room for a name',
      (nth: number) => `nr_inodes=${nth + 2}`,
      [
        /make the folders of the run/,
        /claim the run/,
        /open the event log/,
        /write the record of the run/,
        /keep the output of the tool: .*\/logs\/std(out|err)\.log/,
        // Creating a lease takes two names, which leaves room for the folder of the run; files that exist only while a tool starts leave
        // room for an answer.
        /cannot save the checkpoint/,
      ],
    ],
  ] as const) {
    it(`that fails ${what} is reported, keeps every emitted event, leaves nothing alive, and works again with free space`, async () => {
      const reports: string[] = [];
      let next = 0;
      const work = async () => {
        using project = await open();
        while (!reports.includes('completed')) reports.push(await runUnder(project, limitOf(next++)));
      };
      await Promise.all([work(), work(), work()]);
      const missed = kinds.filter((kind) => !reports.some((message) => kind.test(message)));
      assert.deepEqual(missed, [], reports.join('\n'));
    });
  }

  it('is still listed and inspected, with the index in memory', async () => {
    using project = await open();
    project.mountSmall('.runs', 'size=600k');
    const { data } = readEnvelope(
      await project.acor(['run', 'every_kind', '--answer', 'a-1=fast', '--output', 'out.txt', '--no-stream']),
    );
    project.fill('.runs');
    for (const args of [['runs'], ['decisions'], ['health']]) {
      const envelope = await project.envelope(args);
      assert.equal(envelope.ok, true, JSON.stringify(envelope.error));
    }
    assert.equal((await project.envelope(['runs'])).data.runs[0].run_id, data.run_id);
    project.freeSpace('.runs');
    assert.equal((await project.envelope(['runs'])).data.runs.length, 1);
  });

  it('with exactly the space that the same run needs lets it complete (the control)', async () => {
    using project = await open();
    assert.equal(await runUnder(project, SPACE), 'completed');
  });

  it('is tested by commands that do not read the .bashrc of the user', async () => {
    using project = await open();
    const env = { HOME: project.root };
    project.write('.bashrc', 'echo read >> ~/seen');
    const { code } = await project.start(['version'], { env }).finished;
    assert.equal(code, 0);
    assert.equal(existsSync(project.path('seen')), false);
    const control = spawn('bash', ['-c', 'true'], { env: { ...process.env, ...env, SHLVL: '0' } });
    await once(control, 'close');
    assert.equal(readFileSync(project.path('seen'), 'utf8'), 'read\n');
  });

  /** Runs a tool that makes the runner write everything, in a store with a limit; returns what was reported. */
  async function runUnder(project: ProjectWithMounts, limit: string): Promise<string> {
    const flags = ['--answer', 'a-1=fast', '--no-stream'];
    project.mountSmall('.runs', limit);
    const { ok, data, error } = readEnvelope(
      await project.acor(['run', 'every_kind', '--output', 'out.txt', ...flags]),
    );
    const [runId] = project.runIds();
    const message = ok ? String(data.state) : String(error.message);
    if (ok) assert.equal(data.state, 'completed');
    else {
      assert.match(error.code, /^E_(DISK_FULL|STORAGE|RUNNER_LOST)$/, JSON.stringify(error));
      // The tool reports a full disk in its own words.
      if (error.code !== 'E_RUNNER_LOST' && !/Errno 28/.test(message))
        assert.match(message, /\//, 'it names the place');
      assert.ok(error.hint);
      assert.equal(existsSync(project.path('out.txt')), false);
    }
    if (runId !== undefined) {
      assert.deepEqual(processesOf(runId), []);
      assertWholeLines(project, runId);
      await assertVerified(project);
    }
    project.shell(`mount -o remount,${SPACE} .runs`);
    if (runId !== undefined) {
      const recordOf = () => new FileRunStore(project.runsDir, commandOf).readNow(runId);
      const isGone = () => !isRunning(recordOf().supervisor);
      await until(isGone);
      if (!isFinal(recordOf().state)) await project.acor(['health', '--fix']);
      assert.equal(recordOf().state, ok ? 'completed' : 'failed', `${limit}: ${message}`);
      if (!ok) {
        const again = await project.envelope(['resume', runId, ...flags]);
        assert.equal(again.data?.state, 'completed', `${limit}: ${JSON.stringify(again)}`);
        await until(isGone);
      }
      assert.equal(readFileSync(project.path('out.txt'), 'utf8'), 'put in place\n');
      assert.equal(assertWholeLines(project, runId).at(-1)!.state, 'completed');
      await assertVerified(project);
      assert.equal(readFileSync(project.seen('.runs/.gitignore'), 'utf8'), '*\n');
    }
    assert.deepEqual(leftovers(project), []);
    project.shell('umount -l .runs; rm -f out.txt');
    return message;
  }

  it('does not lose an accepted answer', async () => {
    using project = await open();
    const running = project.start(['run', 'asks', '--detach']);
    const runId = JSON.parse((await running.finished).stdout).data.run_id;
    await until(() => project.record(runId)?.state === 'waiting_ai');
    const answers = `.runs/${runId}/control/tool/answers`;
    project.mountSmall(answers, 'size=4k');
    project.fill(answers);
    const { code } = await project.envelope(['answer', runId, '--choice', 'fast', '--by', 'me']);
    assert.equal(code, 0);
    const ended = await project.envelope(['wait', runId]);
    assert.deepEqual([ended.data?.code ?? ended.error.code], ['E_DISK_FULL']);
    assert.deepEqual(processesOf(runId), []);
    project.unmount(answers);
    const again = await project.envelope(['resume', runId, '--no-stream']);
    assert.deepEqual(
      [again.data?.state, again.data?.result?.data],
      ['completed', { answer: 'fast' }],
      JSON.stringify(again),
    );
    const answered = project.events(runId).filter(({ type }) => type === 'action_answered');
    assert.deepEqual(
      answered.map(({ by }) => by),
      ['me'],
    );
    assert.equal((await project.envelope(['verify'])).code, 0);
  });

  it('does not prevent cancelling a run, nor killing its remaining processes', async () => {
    using project = await open();
    project.mountSmall('.runs', 'size=2m');
    const started = project.start(['run', 'asks_daemon', '--detach']);
    const runId = JSON.parse((await started.finished).stdout).data.run_id;
    await until(() => project.record(runId)?.state === 'waiting_ai');
    await until(() => processesOf(runId).length >= 2);
    project.fill('.runs');
    const { data } = await project.envelope(['cancel', runId]);
    assert.equal(data.state, 'cancelled');
    assert.deepEqual(processesOf(runId), []);
    const events = assertWholeLines(project, runId);
    assert.deepEqual([events.at(-1)!.type, events.at(-1)!.survivors], ['runner_end', []]);
    assert.equal((await project.envelope(['verify'])).code, 0);
  });

  it('is still ignored by git when there is space again', async () => {
    using project = await open();
    project.mountSmall('.runs', 'size=2m');
    project.fill('.runs');
    assert.equal((await project.envelope(['run', 'quick', '--no-stream'])).error.code, 'E_DISK_FULL');
    assert.deepEqual(project.runIds(), []);
    project.freeSpace('.runs');
    assert.equal((await project.run(['quick'])).end.state, 'completed');
    assert.equal(readFileSync(project.seen('.runs/.gitignore'), 'utf8'), '*\n');
  });

  it('does not remove a run that could not be resumed for lack of space', async () => {
    using project = await open();
    project.mountSmall('.runs', 'size=2m');
    await project.acor(['run', 'steps', '--how', 'fails']);
    const runId = project.runIds()[0]!;
    project.fill('.runs');
    const full = await project.envelope(['resume', runId, '--no-stream']);
    assert.deepEqual([full.ok, full.error?.code], [false, 'E_DISK_FULL']);
    assert.match(full.error.message, /claim the run/);
    assert.equal(project.record(runId)!.state, 'failed');
    project.freeSpace('.runs');
    const { data } = await project.envelope(['resume', runId, '--no-stream']);
    assert.equal(data?.state, 'completed');
    assert.equal((await project.envelope(['verify'])).code, 0);
  });

  it('gets room again by the removal of its runs', async () => {
    using project = await open();
    project.mountSmall('.runs', 'size=2m');
    for (let n = 0; n < 5; n++) await project.acor(['run', 'quick']);
    const [first, second, third, , last] = project.runIds();
    project.fill('.runs');
    assert.equal((await project.envelope(['run', 'quick', '--no-stream'])).error.code, 'E_DISK_FULL');
    const cleaned = await project.envelope(['clean', '--keep', '3']);
    assert.deepEqual(cleaned.data?.removed, [first, second], JSON.stringify(cleaned.error));
    project.fill('.runs');
    const removed = await project.envelope(['runs', 'rm', 'last']);
    assert.deepEqual(removed.data?.removed, [last], JSON.stringify(removed.error));
    project.fill('.runs');
    const old = await project.envelope(['clean', '--older-than', '0', '--keep', '1']);
    assert.deepEqual(old.data?.removed, [third], JSON.stringify(old.error));
    assert.deepEqual((await project.envelope(['verify'])).data.counts.runs, 1);
    project.freeSpace('.runs');
    assert.equal((await project.run(['quick'])).end.state, 'completed');
  });

  it('lets changes be undone and discarded by the same command once there is room', async () => {
    using project = await openWithSnapshot();
    project.mountSmall('.runs', 'size=4m');
    for (const command of ['undo', 'discard']) {
      project.write('site/old', 'old\n');
      await project.acor(['run', 'works']);
      const runId = project.runIds().at(-1)!;
      project.fill('.runs');
      const messages: string[] = [];
      for (;;) {
        const { code, error } = await project.envelope([command, runId]);
        if (code === 0) break;
        assert.equal(error.code, 'E_DISK_FULL', JSON.stringify(error));
        messages.push(error.message);
        project.shell('truncate -s -4k .runs/filler');
      }
      assert.match(messages[0]!, /^no space left to lock the changes of the run: .*kept\.lock$/);
      assert.deepEqual(
        readdirSync(project.path('site')).sort(),
        command === 'undo' ? ['old'] : ['1', '2', '3'],
      );
      const { error } = await project.envelope([command, runId]);
      assert.match(error.message, /has nothing to (?:undo|discard)$/);
      project.shell('rm -rf site/*; rm .runs/filler');
    }
  });

  it('says how many changes were undone before it was full, at each step', needsStrace, async () => {
    using project = await openWithSnapshot();
    project.write('site/old', 'old\n');
    await project.acor(['run', 'works']);
    const [runId] = project.runIds();
    for (const [nth, message] of [
      [1, /^no space left to write down the changes of the run: .*; 0 changes made before that$/],
      [2, /^no space left to change .*\/site: .*; 6 changes made before that$/],
      [3, /^no space left to write down the changes of the run: .*; 1 change made before that$/],
    ] as const) {
      const within = `strace -qqq -o /dev/null -e trace=rename -e inject=rename:error=ENOSPC:when=${nth} "$@"; exit $?`;
      const { error } = JSON.parse((await project.start(['undo', runId!], { within }).finished).stdout);
      assert.equal(error?.code, 'E_DISK_FULL');
      assert.match(error.message, message);
    }
    assert.equal((await project.envelope(['undo', runId!])).code, 0);
    assert.deepEqual(readdirSync(project.path('site')), ['old']);
  });

  it('loses no run without an entry when their removal is killed', needsStrace, async () => {
    using project = await open();
    project.mountSmall('.runs', 'size=4m');
    for (let n = 0; n < 10; n++) await project.acor(['run', 'quick']);
    const trace = (call: string, nth: number) =>
      `exec strace -qqq -o /dev/null -e trace=${call} -e inject=${call}:signal=SIGKILL:when=${nth} "$@"`;
    let reported = 0;
    for (const [call, nth] of [
      ['rename', 1],
      ['unlink', 5],
      ['rmdir', 1],
      ['rmdir', 2],
      ['fdatasync', 1],
    ] as const) {
      const keep = String(project.runIds().length - 1);
      project.fill('.runs');
      const killed = project.start(['clean', '--keep', keep], { within: trace(call, nth) });
      assert.equal((await killed.finished).signal, 'SIGKILL', `${call} ${nth}`);
      // The control: the kill came before the entry.
      if ((await project.envelope(['verify'])).code !== 0) reported++;
      project.fill('.runs');
      const { error } = await project.envelope(['clean', '--keep', keep]);
      assert.equal(error, undefined, `${call} ${nth}`);
      assert.equal((await project.envelope(['verify'])).code, 0, `${call} ${nth}`);
      assert.deepEqual(
        readdirSync(project.runsDir).filter((name) => name.startsWith('emptied-')),
        [],
      );
    }
    assert.ok(reported > 0);
  });

  it("because of the shell's limit on file size is reported like any other", async () => {
    using project = await open();
    const { code, stdout } = await project.start(['run', 'many_events', '5000'], {
      within: 'ulimit -f 64; exec "$@"',
    }).finished;
    const lines = parseLines(stdout);
    assert.deepEqual([code, lines.at(-1)!.type, lines.at(-1)!.code], [2, 'runner_end', 'E_STORAGE']);
    assert.match(String(lines.findLast(({ type }) => type === 'runner_error')!.hint), /ulimit -f/);
    const runId = project.runIds()[0]!;
    assert.deepEqual(assertWholeLines(project, runId), lines);
    assert.equal((await project.envelope(['verify'])).code, 0);
    assert.equal((await project.run(['many_events', '5000'])).end.state, 'completed');
  });
});

describe('another full disk', needsMounts, () => {
  it('gets no part of an output; ACOR keeps the output, and names the command that puts it in place', async () => {
    using project = await open();
    project.mountSmall('out', 'size=64k');
    const args = ['run', 'writes_two', '--large', 'out/large', '--small', 'small', '--no-stream'];
    const { error, meta } = await project.envelope(args);
    assert.equal(error.code, 'E_STORAGE');
    assert.match(error.message, /cannot put the output in place at .*\/out\/large: ENOSPC/);
    assert.deepEqual(readdirSync(project.seen('out')), []);
    const runId = project.runIds()[0]!;
    assert.equal((await project.envelope(['show', runId])).data.state, 'failed');
    assert.equal((await project.envelope(['verify'])).code, 0);
    project.shell('mount -o remount,size=1m out');
    const fix = /mv .*/.exec(error.hint)![0];
    assert.ok(meta.next === undefined || Array.isArray(meta.next));
    project.shell(fix);
    assert.equal(readFileSync(project.seen('out/large')).length, 200_000);
    project.shell('rm out/large');
    const { data } = await project.envelope(args);
    assert.equal(data?.state, 'completed');
  });

  it('gets none of the outputs of a run when one of them has no room', async () => {
    using project = await open();
    project.mountSmall('out', 'size=4k');
    project.fill('out');
    const args = ['run', 'writes_two', '--large', 'large', '--small', 'out/small', '--no-stream'];
    const { error } = await project.envelope(args);
    assert.equal(error.code, 'E_STORAGE');
    assert.equal(existsSync(project.path('large')), false);
    project.freeSpace('out');
    project.shell(/mv .*/.exec(error.hint)![0]);
    assert.equal(readFileSync(project.path('large')).length, 200_000);
    assert.equal(readFileSync(project.seen('out/small'), 'utf8'), 'small\n');
  });

  it('for the discovery cache does not prevent finding a tool', async () => {
    using project = await open();
    for (const prepare of [
      () => project.mountSmall('.runs/cache', 'size=4k'),
      () => project.mountSmall('.runs/cache', 'ro'),
    ]) {
      prepare();
      project.tryShell('cat /dev/zero > .runs/cache/filler 2>/dev/null');
      const { data } = await project.envelope(['list']);
      assert.equal(data.tools.length, TOOLS.length);
      assert.equal((await project.run(['quick'])).end.state, 'completed');
      project.unmount('.runs/cache');
    }
    await project.acor(['list']);
    assert.ok(existsSync(project.seen('.runs/cache/discovery.json')));
  });

  for (const [language, command] of [
    ['Python', `PYTHONPATH='${ROOT}/sdk/python' python3 '${ROOT}/sdk/python/fixtures/driver.py'`],
    ['bash', `ACOR_LIB='${ROOT}/sdk/bash' bash '${ROOT}/sdk/bash/fixtures/driver.sh'`],
    ['TypeScript', `'${ROOT}/node_modules/.bin/bun' '${ROOT}/src/tool/fixtures/driver.ts'`],
  ] as const) {
    it(`fails a checkpoint of the ${language} SDK at once with a clear error, and keeps the previous one`, async () => {
      using project = await open();
      const folder = project.path('checkpoints');
      project.mountSmall('checkpoints', 'size=64k');
      const drive = (args: string) => {
        const env = `RUN_ID=r-1 ACOR_ATTEMPT=1 CHECKPOINT_DIR='${folder}' WORKSPACE='${project.root}'`;
        const { stdout, stderr } = project.tryShell(`env ${env} ${command} ${args}`);
        const last: Record<string, unknown> = { ...parseLines(stdout).at(-1), stderr };
        return last;
      };
      assert.equal(drive('save stage 3').version, 3);
      for (const [break_, fix] of [
        [() => project.fill('checkpoints'), () => project.freeSpace('checkpoints')],
        [
          () => project.shell('mount -o remount,ro checkpoints'),
          () => project.shell('mount -o remount,rw checkpoints'),
        ],
      ] as const) {
        break_();
        const failed = drive('save stage 1');
        assert.equal(failed.type, 'error');
        assert.match(String(failed.code), /^E_(DISK_FULL|STORAGE)$/);
        assert.match(`${failed.msg} ${failed.stderr}`, /checkpoint.* (in|to) .*\/checkpoints/);
        assert.deepEqual((drive('load stage').data as { i: number }).i, 3);
        fix();
        assert.deepEqual(readdirSync(project.seen('checkpoints')), ['stage.json']);
      }
      assert.equal(drive('save stage 1').version, 4);
    });
  }
});

describe('a part of the store that cannot be written', needsMounts, () => {
  it('(all of it) does not prevent reading runs that the index does not have yet', async () => {
    using project = await open();
    await project.acor(['run', 'quick']);
    const listed = async () =>
      (await project.envelope(['runs'])).data.runs.map((run: { run_id: string }) => run.run_id);
    assert.deepEqual(await listed(), project.runIds());
    await project.acor(['run', 'quick']);
    const before = readFileSync(project.seen('.runs/index.sqlite'));
    project.makeReadOnly('.runs');
    assert.deepEqual((await listed()).sort(), project.runIds());
    assert.deepEqual((await project.envelope(['decisions'])).data.decisions, []);
    assert.deepEqual(readFileSync(project.seen('.runs/index.sqlite')), before);
  });

  it('(all of it) is reported by health, and by the removal and the packing of runs', async () => {
    using project = await open();
    for (let n = 0; n < 3; n++) await project.acor(['run', 'quick']);
    await project.acor(['clean', '--keep', '2']);
    project.makeReadOnly('.runs');
    const [, newest] = project.runIds();
    for (const args of [
      ['clean', '--keep', '0'],
      ['clean', '--keep', '0', '--pack'],
      ['runs', 'rm', newest!],
    ]) {
      const { code, error } = await project.envelope(args);
      assert.deepEqual([code, error?.code], [2, 'E_STORAGE'], args.join(' '));
      assert.match(error.message, /^the file system is read-only: cannot claim the run: .*\.runs\/leases$/);
      assert.match(error.hint, /remount,rw/);
    }
    const { error } = await project.envelope(['health']);
    assert.match(
      error.message,
      /^store\.permissions is blocked: the file system is read-only: cannot write the runs/,
    );
    assert.match(error.hint, /remount,rw/);
    project.unmount('.runs');
    assert.equal((await project.envelope(['clean', '--keep', '0'])).data.counts.removed, 2);
  });

  it('(the ledger) starts no run, and a run at work is entered later', async () => {
    using project = await open();
    await project.acor(['run', 'quick']);
    const { running, runId } = await held(project);
    const ledger = '.runs/ledger.jsonl';
    project.makeReadOnly(ledger);
    const refusal = /E_STORAGE.*read-only.*write the ledger: .*ledger\.jsonl/;
    const refused = await project.acor(['run', 'quick']);
    assert.match(refused.stdout, refusal);
    assert.equal(project.runIds().length, 2);
    project.write('go', '');
    const { code, stdout } = await running.finished;
    const lines = parseLines(stdout);
    assert.deepEqual([code, lines.at(-2)?.type, lines.at(-1)!.ok], [2, 'runner_end', false]);
    assert.match(JSON.stringify(lines.at(-1)), refusal);
    assert.equal((await project.envelope(['show', runId])).data.state, 'completed');
    assert.equal((await project.envelope(['verify'])).code, 0);
    project.unmount(ledger);
    await project.acor(['health', '--fix']);
    assert.equal((await project.envelope(['show', runId])).data.state, 'completed');
    assert.equal(project.record(runId)!.state, 'completed');
    assert.equal((await project.envelope(['verify'])).code, 0);
    const entered = parseLines(readFileSync(project.seen(ledger), 'utf8')).map(({ run_id }) => run_id);
    assert.deepEqual(entered, project.runIds());
    assert.deepEqual(leftovers(project), []);
  });

  it('(the record) is reported, and the log alone shows the end of the run until the record is written', async () => {
    using project = await open();
    const { running, runId } = await held(project);
    const record = `.runs/${runId}/metadata.json`;
    // A bind-mounted file cannot be replaced.
    project.shell(`mount --bind ${record} ${record}`);
    project.write('go', '');
    const { code, stdout } = await running.finished;
    assert.match(stdout, /"type":"runner_end".*"state":"completed"/);
    assert.deepEqual([code, JSON.parse(stdout.trimEnd().split('\n').at(-1)!).error.code], [2, 'E_STORAGE']);
    assert.match(stdout, /cannot write the record of the run: .*metadata\.json/);
    assert.deepEqual(processesOf(runId), []);
    assert.equal(project.record(runId)!.state, 'running');
    for (const { state } of [
      (await project.envelope(['show', runId])).data,
      (await project.envelope(['runs'])).data.runs[0],
    ])
      assert.equal(state, 'completed');
    assert.equal((await project.envelope(['verify'])).code, 0);
    project.unmount(record);
    await project.acor(['health', '--fix']);
    assert.equal(project.record(runId)!.state, 'completed');
    assert.deepEqual((await project.envelope(['verify'])).data.runs, []);
    assert.deepEqual(leftovers(project), []);
  });

  it('(the folder of the run) ends the run with an error that says so', async () => {
    using project = await open();
    const { running, runId } = await held(project);
    project.makeReadOnly(`.runs/${runId}`);
    project.write('go', '');
    const { code, stdout } = await running.finished;
    assert.equal(code, 2);
    assert.match(stdout, /E_STORAGE.*read-only/);
    assert.deepEqual(processesOf(runId), []);
    assertWholeLines(project, runId);
    const while_ = (await project.envelope(['show', runId])).data;
    project.unmount(`.runs/${runId}`);
    const after = (await project.envelope(['show', runId])).data;
    assert.deepEqual([while_.state, while_.code], [after.state, after.code]);
    assert.equal((await project.envelope(['verify'])).code, 0);
    if (after.state === 'failed')
      assert.equal((await project.envelope(['resume', runId, '--no-stream'])).data?.state, 'completed');
  });

  it('(the control folder) rejects a request, and the run continues', async () => {
    using project = await open();
    const started = project.start(['run', 'asks', '--detach']);
    const runId = JSON.parse((await started.finished).stdout).data.run_id;
    await until(() => project.record(runId)?.state === 'waiting_ai');
    project.makeReadOnly(`.runs/${runId}/control`);
    for (const [args, what] of [
      [['cancel', runId], /request the cancel: .*CANCEL/],
      [['answer', runId, '--choice', 'fast'], /submit the answer: .*control/],
    ] as const) {
      const { code, error } = await project.envelope(args);
      assert.deepEqual([code, error.code], [2, 'E_STORAGE']);
      assert.match(error.message, what);
    }
    assert.equal((await project.envelope(['show', runId])).data.state, 'waiting_ai');
    project.unmount(`.runs/${runId}/control`);
    assert.equal((await project.envelope(['answer', runId, '--choice', 'fast'])).code, 0);
    assert.equal((await project.envelope(['wait', runId])).data.state, 'completed');
  });

  it('(an answer that cannot be removed) applies the answer once and continues', async () => {
    using project = await open();
    const started = project.start(['run', 'asks', '--detach']);
    const runId = JSON.parse((await started.finished).stdout).data.run_id;
    await until(() => project.record(runId)?.state === 'waiting_ai');
    const control = `.runs/${runId}/control`;
    project.shell(`mkdir side; mount --bind '${control}' side`);
    project.makeReadOnly(control);
    project.shell(`mount --bind side/tool '${control}/tool'`);
    const answer = { answer_id: 'x', action_id: 'a-1', answer: 'fast', by: 'me', source: 'command' };
    project.write('posted', JSON.stringify(answer));
    project.shell('cp posted side/posted; mv side/posted side/answer-x.json');
    assert.equal((await project.envelope(['wait', runId])).data.state, 'completed');
    const events = assertWholeLines(project, runId);
    assert.equal(events.filter(({ type }) => type === 'action_answered').length, 1);
    assert.equal(events.filter(({ type }) => type === 'runner_warning').length, 0);
  });
});

describe('a disk that loses data', needsStrace, () => {
  for (const [what, calls, message] of [
    ['the ending', 'fdatasync:error=EIO:when=1', /cannot sync the event log: .*events\.jsonl: EIO/],
    ['the ledger', 'fdatasync:error=EIO:when=2+', /cannot write the ledger: .*ledger\.jsonl: EIO/],
    ['the record', 'fsync:error=EIO', /cannot write the record of the run: .*metadata\.json: EIO/],
  ] as const) {
    it(`that fails the sync of ${what} keeps the run from being reported as completed`, async () => {
      using project = await open();
      const trace = `strace -f -qq -o /dev/null -e trace=fdatasync,fsync -e inject=${calls} "$@"; exit $?`;
      const { code, stdout } = await project.start(['run', 'quick', '--no-stream'], { within: trace })
        .finished;
      const { error } = JSON.parse(stdout);
      assert.deepEqual([code, error.code], [2, 'E_STORAGE']);
      assert.match(error.message, message);
      const runId = project.runIds()[0]!;
      const ends = assertWholeLines(project, runId).filter(({ type }) => type === 'runner_end');
      assert.equal(ends.length, 1);
      assert.equal(project.record(runId)!.state, 'running');
      await project.acor(['health', '--fix']);
      assert.equal(project.record(runId)!.state, 'completed');
      assert.equal((await project.envelope(['verify'])).code, 0);
      const whole = project.start(['run', 'quick', '--no-stream'], {
        within: trace.replace('error=EIO', 'delay_enter=1'),
      });
      assert.equal((await whole.finished).code, 0);
    });
  }

  it('keeps an answer from being acknowledged before it is synced', async () => {
    using project = await open();
    const running = project.start(['run', 'asks']);
    const runId = String((await running.event('action_required')).run_id);
    const { code, stdout } = await project.start(['answer', runId, '--choice', 'fast'], {
      within: 'strace -f -qq -o /dev/null -e trace=fdatasync -e inject=fdatasync:error=EIO "$@"; exit $?',
    }).finished;
    assert.deepEqual([code, JSON.parse(stdout).error.code], [2, 'E_STORAGE'], stdout);
    assert.match(JSON.parse(stdout).error.message, /cannot sync the event log: .*events\.jsonl: EIO/);
    await running.finished;
  });

  it('and whose supervisor ended before it could sync the log has the log synced by recovery, before the ledger', async () => {
    using project = await open();
    const strace = 'strace -f -y -s 0 -qqq -e trace=fdatasync';
    const failing = `${strace} -o /dev/null -e inject=fdatasync:error=EIO "$@"; exit $?`;
    const { code } = await project.start(['run', 'quick', '--no-stream'], { within: failing }).finished;
    assert.equal(code, 2);
    await project.start(['health', '--fix'], { within: `${strace} -o trace "$@"` }).finished;
    const synced = [...readFileSync(project.seen('trace'), 'utf8').matchAll(/fdatasync\(\d+<.*\/(.*)>/g)];
    assert.deepEqual(
      synced.map(([, name]) => name),
      ['events.jsonl', 'ledger.jsonl'],
    );
  });
});

/** Starts a run that continues until the file `go` exists. */
async function held(project: ProjectWithMounts) {
  const running = project.start(['run', 'holds', project.path('go')]);
  return { running, runId: String((await running.event('start')).run_id) };
}

/** Reads in the mount namespace; artifacts have paths inside it. */
async function assertVerified(project: ProjectWithMounts): Promise<void> {
  const store = new FileRunStore(project.runsDir, commandOf);
  const { runs, ledger } = await verifyStore(store);
  const problems = [...runs.flatMap((run) => run.problems), ...ledger];
  assert.deepEqual(
    problems.filter(({ where }) => where !== 'artifact'),
    [],
  );
}

/** Remains of unfinished writes: partial files, and locks. */
function leftovers(project: ProjectWithMounts): string[] {
  const found = project.shell(
    "find .runs -name '*.tmp' -o -name '*.lock*' -o -name reserve -o -path '.runs/leases/*'",
  );
  return found.split('\n').filter((line) => line !== '');
}

/** Asserts that every line of a log is complete, in order and without a gap, and that the states follow the table. */
function assertWholeLines(project: ProjectWithMounts, runId: string) {
  const text = readFileSync(join(project.runsDir, runId, 'events.jsonl'), 'utf8');
  const events = parseLines(text.slice(0, text.lastIndexOf('\n') + 1));
  assert.deepEqual(
    events.map(({ seq }) => seq),
    events.map((_, index) => index + 1),
  );
  checkedStates(events);
  return events;
}

function readEnvelope({ stdout, stderr }: Finished) {
  const lines = stdout.trimEnd().split('\n');
  assert.equal(lines.length, 1, `${stdout}${stderr}`);
  return JSON.parse(lines[0]!);
}
