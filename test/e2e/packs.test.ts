import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { FileLeases } from '../../src/core/store-files/file-leases.ts';
import { FileRunStore } from '../../src/core/store-files/file-run-store.ts';
import { commandOf } from '../../src/operations/command-forms.ts';
import { cloneRuns } from '../support/cloned-runs.ts';
import { ACOR, TestProject, WITHOUT_SANDBOX } from '../support/project.ts';
import { acorInProcess } from '../support/project-in-process.ts';
import { WorkflowProject } from '../support/workflow-project.ts';

const canTrace = spawnSync('strace', ['-o', '/dev/null', 'true'], { stdio: 'ignore' }).status === 0;
/** Of three runs; together they are several times what a process that packs may take. */
const BIG_BYTES = 50_000_000;
const MOST_KIB = 180_000;
const PLAIN = 'version: 1.0.0\nadapter: plain\n';

describe('a packed run', () => {
  let project: WorkflowProject;
  /** The answers of every command, by the command; once before packing, and once after. */
  let [folders, packed]: [Map<string, unknown>, Map<string, unknown>] = [new Map(), new Map()];
  let ids: Record<string, string>;

  before(async () => {
    project = new WorkflowProject(['quick', 'every_kind', 'exits_with', 'many_events', 'heeds_cancel']);
    project.write('tools/counts/tool.yaml', `${PLAIN}command: [seq, '5']\n`);
    project.write('tools/sorts/tool.yaml', `${PLAIN}stdin: records\ncommand: [sort, -r]\n`);
    const everyKind = ['every_kind', '--answer', 'a-1=fast', '--output', 'out.txt', '--idempotency-key', 'k'];
    await project.run(everyKind);
    await project.run(['exits_with', '3']);
    await project.run(['many_events', '3000']);
    const { data } = await project.envelope(['run', '--detach', 'heeds_cancel']);
    await project.envelope(['cancel', data.run_id]);
    await project.envelope(['wait', data.run_id]);
    await project.flow({
      name: 'flow',
      steps: [
        { name: 'first', ...project.noting('one') },
        { name: 'second', needs: ['first'], ...project.noting('two') },
      ],
    });
    await project.envelope(['pipe', '--no-stream', 'counts', 'sorts']);
    await project.supervisorsExited();
    const all = project.runIds().map((id) => [project.whole(id), id] as const);
    const idOf = (isIt: (record: { tool: string; kind: string }) => boolean) =>
      all.find(([record]) => isIt(record))![1];
    ids = {
      every_kind: idOf(({ tool }) => tool === 'every_kind'),
      failed: idOf(({ tool }) => tool === 'exits_with'),
      many_events: idOf(({ tool }) => tool === 'many_events'),
      cancelled: idOf(({ tool }) => tool === 'heeds_cancel'),
      step: idOf(({ tool }) => tool === 'notes_work'),
      workflow: idOf(({ kind }) => kind === 'workflow'),
      pipe: idOf(({ kind }) => kind === 'pipe'),
    };
    folders = await answers();
    const { data: answer } = await project.envelope(['clean', '--pack', '--keep', '0']);
    assert.deepEqual(answer, {
      removed: [],
      packed: all.map(([, id]) => id),
      skipped: [],
      counts: { removed: 0, packed: all.length, skipped: 0 },
      dry_run: false,
      kept: all.length,
    });
    assert.deepEqual(project.runIds(), []);
    packed = await answers();
  });
  after(() => project[Symbol.dispose]());

  async function answers(): Promise<Map<string, unknown>> {
    const found = new Map<string, unknown>();
    for (const [name, args] of commands()) {
      const { code, stdout, stderr } = await acorInProcess(project, args);
      found.set(name, { code, stdout: stdout.replace(/"elapsed":[\d.]+/, ''), stderr });
    }
    // The index is built from the runs, wherever they are.
    rmSync(project.path('.runs', 'index.sqlite'));
    const { data } = await project.envelope(['runs', '--limit', '100']);
    found.set('runs with a new index', data);
    return found;
  }

  function commands(): [name: string, args: string[]][] {
    const ofRun = [
      ['show'],
      ['logs'],
      ['logs', '--since', '3'],
      ['logs', '--type', 'runner_state', '--type', 'result'],
      ['logs', '--format', 'text'],
      ['logs', '--follow'],
      ['attach'],
      ['wait'],
      ['decisions'],
      ['artifacts'],
      ['verify'],
      ['replay', '--at-once'],
      ['cancel'],
    ];
    const ofStore = [
      ['runs'],
      ['runs', '--limit', '2', '--offset', '1'],
      ['runs', '--tool', 'every_kind', '--state', 'completed'],
      ['runs', '--kind', 'workflow'],
      ['runs', '--parent', ids.workflow!],
      ['runs', '--top-level'],
      ['runs', '--text', 'out.txt'],
      ['decisions'],
      ['verify'],
      ['show', `${ids.workflow!.slice(0, -1)}`],
      ['answer', ids.every_kind!, 'a-1', '--choice', 'slow'],
      ['artifact', ids.every_kind!, 'made.txt'],
      ['artifact', ids.every_kind!, 'made.txt', '--from', '2', '--bytes', '2'],
      ['artifact', ids.step!, '1'],
      ['logs', ids.many_events!, '--since', '500', '--limit', '3'],
      ['clean', '--keep', '2', '--dry-run'],
      [
        'run',
        'every_kind',
        '--answer',
        'a-1=fast',
        '--output',
        'out.txt',
        '--idempotency-key',
        'k',
        '--no-stream',
      ],
    ];
    const named = Object.entries(ids).flatMap(([name, id]) =>
      ofRun.map(([command, ...flags]): [string, string[]] => [
        `${[command, ...flags].join(' ')} of ${name}`,
        [command!, id, ...flags],
      ]),
    );
    return [...named, ...ofStore.map((args): [string, string[]] => [args.join(' '), args])];
  }

  it('answers every command that reads it as it did before', () => {
    assert.ok(folders.size > 100, String(folders.size));
    for (const [name, answer] of folders) assert.deepEqual(packed.get(name), answer, name);
  });

  it('is not unpacked by any of them, and a second packing finds nothing', async () => {
    assert.deepEqual(project.runIds(), []);
    const { data } = await project.envelope(['clean', '--pack', '--keep', '0']);
    assert.deepEqual(data.packed, []);
  });

  it('is replayed, and executed again, as a run with a folder', async () => {
    const { code, data, error } = await project.envelope(['replay', ids.step!, '--execute', '--no-stream']);
    assert.equal(code, 0, JSON.stringify(error));
    assert.equal(data.replays, ids.step);
    assert.deepEqual(data.artifacts.same, ['artifacts/said.txt']);
    assert.equal(existsSync(join(project.runsDir, ids.step!)), false);
  });
});

describe('a packed run that is continued', () => {
  it('gets its folder back, with its checkpoints, and keeps its id and events', async () => {
    using project = new TestProject({ tools: ['steps'], config: WITHOUT_SANDBOX });
    const { events, end } = await project.run(['steps', '--how', 'fails']);
    const runId = String(end.run_id);
    await project.envelope(['clean', '--pack', '--keep', '0']);
    const { data, code } = await project.envelope(['resume', runId, '--no-stream']);
    const all = project.events(runId);
    assert.deepEqual(all.slice(0, events.length), events);
    assert.deepEqual([data.attempt, data.result.data.done], [2, ['1', '2', '3', '4', '5']]);
    assert.deepEqual([code, data.run_id], [0, runId]);
    assert.deepEqual(readdirSync(project.path('.runs', 'packs')), []);
    assert.equal((await project.envelope(['verify'])).code, 0);
  });

  it('that is a workflow finds the artifacts of its packed steps where they were', async () => {
    using project = new WorkflowProject(['reads_file']);
    const failing = project.noting('two', { fails_with: 'E_NOT_YET', unless: project.path('go') });
    const { end } = await project.flow({
      name: 'flow',
      steps: [
        { name: 'first', ...project.noting('one') },
        { name: 'second', needs: ['first'], ...failing },
        {
          name: 'third',
          needs: ['second'],
          tool: 'reads_file',
          args: { file: '${steps.first.artifacts["said.txt"]}' },
        },
      ],
    });
    const flow = String(end.run_id);
    assert.equal(end.state, 'failed');
    await project.supervisorsExited();
    await project.envelope(['clean', '--pack', '--keep', '0']);
    assert.deepEqual(project.runIds(), []);
    project.write('go', '');
    const { code, error } = await project.envelope(['resume', flow, '--no-stream']);
    assert.equal(code, 0, JSON.stringify(error));
    assert.deepEqual(project.done(), ['one', 'two']);
    assert.equal((await project.envelope(['verify'])).code, 0);
  });
});

describe('while runs are packed', () => {
  it('every reader that follows or reads them gets all of their events', async () => {
    using project = new TestProject({ tools: ['many_events'] });
    await project.run(['many_events', '2000']);
    await cloneRuns(project.runsDir, 30);
    const ids = project.runIds();
    const lengths = new Map(ids.map((id) => [id, project.events(id).length]));
    const packing = project.acor(['clean', '--pack', '--keep', '0']);
    let isDone = false;
    void packing.then(() => {
      isDone = true;
    });
    const store = new FileRunStore(project.runsDir, commandOf);
    let reads = 0;
    do {
      for (const id of ids) {
        let events = 0;
        for await (const lines of store.follow(id, { wait: true }))
          events += Buffer.from(lines).toString('latin1').split('\n').length - 1;
        assert.equal(events, lengths.get(id));
        assert.equal(store.readNow(id).run_id, id);
        reads++;
      }
      // The end of the other process is an event of its own.
      await new Promise((resolve) => setImmediate(resolve));
      assert.deepEqual(store.listNow(), ids);
    } while (!isDone);
    assert.ok(reads >= ids.length);
    assert.equal((await packing).code, 0);
    assert.deepEqual(project.runIds(), []);
  });
});

describe('two processes that clean a store at once', () => {
  it('pack each run once, and one that is removed meanwhile is gone', async () => {
    using project = new TestProject({ tools: ['quick'] });
    await project.run(['quick']);
    await cloneRuns(project.runsDir, 60);
    const ids = project.runIds();
    const [one, other, third] = await Promise.all([
      project.envelope(['clean', '--pack', '--keep', '0']),
      project.envelope(['clean', '--pack', '--keep', '0']),
      project.envelope(['clean', '--keep', '20']),
    ]);
    assert.deepEqual([one.error, other.error, third.error], [undefined, undefined, undefined]);
    const packed = [...one.data.packed, ...other.data.packed];
    assert.equal(new Set(packed).size, packed.length);
    const left = new FileRunStore(project.runsDir, commandOf).listNow();
    assert.deepEqual(
      left,
      ids.filter((id) => !third.data.removed.includes(id)),
    );
    assert.equal((await project.envelope(['verify'])).code, 0);
  });
});

describe('a store of more than a thousand runs', () => {
  it('packs into a few files, in little memory, and a packed run is found by reading one of them', async () => {
    using project = new TestProject({ tools: ['quick'], config: WITHOUT_SANDBOX });
    await project.run(['quick']);
    await cloneRuns(project.runsDir, 1_050);
    const ids = project.runIds();
    const inodes = () => readdirSync(project.runsDir, { recursive: true }).length;
    const before = inodes();
    assert.ok(before >= 3 * ids.length, String(before));
    for (const id of ids.slice(0, 3)) {
      mkdirSync(join(project.runsDir, id, 'artifacts'), { recursive: true });
      writeFileSync(join(project.runsDir, id, 'artifacts', 'big.bin'), randomBytes(BIG_BYTES));
    }
    const running = project.start(['clean', '--pack', '--keep', '1']);
    let peakKib = 0;
    const timer = setInterval(() => {
      peakKib = Math.max(peakKib, peakOf(running.child.pid!));
    }, 10);
    assert.equal((await running.finished).code, 0);
    clearInterval(timer);
    assert.ok(peakKib > 0 && peakKib < MOST_KIB, String(peakKib));
    assert.ok(inodes() < 40, String(inodes()));
    for (const command of ['show', 'logs']) {
      const { data } = await project.envelope([command, ids[600]!]);
      assert.equal(data.run_id, ids[600]);
      if (!canTrace) continue;
      const opened = packsOpenedBy(project, [command, ids[600]!]);
      assert.equal(opened.size, 1, [...opened].join(' '));
    }
    assert.ok(readdirSync(join(project.runsDir, 'packs')).length > 3);
  });
});

function packsOpenedBy(project: TestProject, args: readonly string[]): Set<string> {
  const trace = project.path('trace');
  spawnSync('strace', ['-f', '-qq', '-s', '400', '-o', trace, '-e', 'trace=openat,open', ACOR, ...args], {
    cwd: project.root,
    env: project.environment(),
    stdio: 'ignore',
  });
  return new Set([...readFileSync(trace, 'utf8').matchAll(/[^/"]+\.pack(?=")/g)].map(([name]) => name));
}

/** The most memory that a process has had, in KiB; 0 once it has ended. */
function peakOf(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

describe('clean --pack and its leftovers', () => {
  it('names the runs that it leaves in their folders, in a preview as well', async () => {
    using project = new TestProject({ tools: ['quick'] });
    const ids: string[] = [];
    for (let count = 0; count < 2; count++) ids.push(String((await project.run(['quick'])).end.run_id));
    await project.supervisorsExited();
    const [linked, plain] = ids as [string, string];
    symlinkSync('/etc/hostname', project.path('.runs', linked, 'link'));
    for (const more of [['--dry-run'], []]) {
      const { data, meta } = await project.envelope(['clean', '--pack', '--keep', '0', ...more]);
      const { packed, skipped } = data;
      assert.deepEqual([packed, meta.count], [[plain], 1]);
      assert.deepEqual(skipped, [{ run_id: linked, reason: 'link is a link, a pipe or a device' }]);
    }
    const rule = await project.envelope(['clean', '--pack']);
    assert.match(rule.error.message, /which of the 2 runs to pack/);
    assert.match(String(rule.meta.next), /--pack/);
  });

  it('and health name a pack that cannot be read', async () => {
    using project = new TestProject({ tools: ['quick'] });
    for (let i = 0; i < 3; i++) await project.run(['quick']);
    await project.supervisorsExited();
    await project.envelope(['clean', '--pack', '--keep', '0']);
    const sound = await project.envelope(['runs']);
    assert.equal(sound.meta.warnings, undefined);
    const checkOfPacks = async () => {
      const { data } = await project.envelope(['health']);
      return data.checks.find(({ name }: { name: string }) => name === 'store.packs');
    };
    assert.equal((await checkOfPacks()).status, 'ok');
    const [pack] = readdirSync(project.path('.runs/packs')).filter((name) => name.endsWith('.pack'));
    truncateSync(project.path('.runs/packs', pack!), 100);
    const { status, detail } = await checkOfPacks();
    assert.deepEqual([status, detail.includes(pack)], ['degraded', true]);
    const { meta } = await project.envelope(['clean', '--keep', '0']);
    assert.ok(String(meta.warnings).includes(`${pack} were left as they are`), String(meta.warnings));
    // A list has one warning for all runs of the pack.
    const runs = await project.envelope(['runs']);
    for (const { unverified } of runs.data.runs) assert.match(unverified, /pack .* is damaged/);
    assert.equal(runs.meta.warnings.length, 1);
    assert.match(runs.meta.warnings[0], /^3 of these runs are unverified.*is damaged/);
  });

  it('and every other command report the runs of a pack that is gone, until it is back or the loss is accepted', async () => {
    using project = new TestProject({ tools: ['quick'], config: WITHOUT_SANDBOX });
    const keyed = ['run', 'quick', '--idempotency-key', 'once', '--no-stream'];
    const runId = String((await project.envelope(keyed)).data.run_id);
    await project.supervisorsExited();
    await project.envelope(['clean', '--pack', '--keep', '0']);
    const later = String((await project.envelope(['run', 'quick', '--no-stream'])).data.run_id);
    await project.supervisorsExited();
    await project.envelope(['runs']);
    const [pack] = readdirSync(project.path('.runs/packs'));
    const [inPlace, elsewhere] = [project.path('.runs/packs', pack!), project.path('kept.pack')];
    renameSync(inPlace, elsewhere);
    const forget = 'acor clean --missing --dry-run';

    for (const index of ['as it was', 'made again']) {
      if (index === 'made again') rmSync(project.path('.runs/index.sqlite'));
      // A page without the missing run reports it as well.
      const runs = await project.envelope(['runs', '--limit', '1']);
      assert.deepEqual(
        runs.data.runs.map(({ run_id }: { run_id: string }) => run_id),
        [later],
      );
      for (const part of [runId, inPlace, 'from a backup'])
        assert.ok(String(runs.meta.warnings).includes(part), `${index}: ${runs.meta.warnings}`);
      assert.ok(runs.meta.next.includes(forget), String(runs.meta.next));
    }
    for (const command of [['decisions'], ['cost'], ['insights']])
      assert.ok(String((await project.envelope(command)).meta.warnings).includes(inPlace), command.join());
    for (const command of ['show', 'logs', 'wait', 'attach', 'resume', 'verify', 'artifacts', 'replay']) {
      const { code, error, meta } = await project.envelope([
        command,
        runId,
        ...(command === 'logs' ? ['--limit', '1'] : []),
      ]);
      assert.deepEqual([code, error.code, error.details.packs], [1, 'E_INTEGRITY', [inPlace]], command);
      assert.ok(meta.next.includes(forget), command);
    }
    const { data: health } = await project.envelope(['health']);
    const check = health.checks.find(({ name }: { name: string }) => name === 'store.missing_runs');
    assert.deepEqual([check?.status, check?.detail.includes(inPlace)], ['degraded', true]);
    const verified = await project.envelope(['verify']);
    assert.equal(verified.error.code, 'E_INTEGRITY');
    assert.ok(verified.error.details.ledger.some(({ path }: { path: string }) => path === inPlace));
    assert.ok(verified.meta.next.includes(forget), String(verified.meta.next));
    // The key must not start the call a second time.
    assert.equal((await project.envelope(keyed)).error?.code, 'E_INTEGRITY');

    renameSync(elsewhere, inPlace);
    const back = await project.envelope(['runs']);
    assert.deepEqual([back.data.runs.length, back.meta.warnings], [2, undefined]);
    assert.equal((await project.envelope(keyed)).data.run_id, runId);
    assert.equal((await project.envelope(['verify'])).code, 0);

    rmSync(inPlace);
    for (const [more, isDry] of [
      [['--dry-run'], true],
      [[], false],
    ] as const) {
      const { data, meta } = await project.envelope(['clean', '--missing', ...more]);
      assert.deepEqual([data.removed, data.dry_run, meta.count], [[runId], isDry, 1]);
    }
    assert.equal((await project.envelope(['verify'])).code, 0);
    assert.equal((await project.envelope(['runs'])).meta.warnings, undefined);
    assert.equal((await project.envelope(['show', runId])).error.code, 'E_RUN_NOT_FOUND');
    assert.notEqual((await project.envelope(keyed)).data.run_id, runId);
  });

  it('say so to a caller who resumes a run that is being packed', async () => {
    using project = new TestProject({ tools: ['exits_with'] });
    const { end } = await project.run(['exits_with', '3']);
    await project.supervisorsExited();
    const runId = String(end.run_id);
    const lease = await new FileLeases(project.runsDir).acquire(runId, 2, { recovers: true });
    const { error } = await project.envelope(['resume', runId]);
    await lease.release();
    assert.match(error.message, /recovers, packs or removes run/);
    assert.match(error.hint, /Try again/);
  });
});
