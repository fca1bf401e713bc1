import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { verifyStore } from '../../src/core/audit/verify.ts';
import { FileRunStore } from '../../src/core/store-files/file-run-store.ts';
import { Ledger } from '../../src/core/store-files/ledger.ts';
import { packRuns, selectPackable } from '../../src/core/store-files/pack-runs.ts';
import { commandOf } from '../../src/operations/command-forms.ts';
import { cloneRuns } from '../support/cloned-runs.ts';
import { ACOR, ROOT, TestProject, WITHOUT_SANDBOX } from '../support/project.ts';

const canTrace = spawnSync('strace', ['-o', '/dev/null', 'true'], { stdio: 'ignore' }).status === 0;
const needsStrace = canTrace ? {} : { skip: 'needs strace' };

describe('a process that packs and is killed, or whose disk fails,', needsStrace, () => {
  const RUNS = 3;
  // Each step that another process, or the disk, sees.
  const STEPS = [
    'link',
    'rename',
    'unlink',
    'unlinkat',
    'mkdir',
    'fsync',
    'fdatasync',
    'fchmod',
    'ftruncate',
  ];
  let project: TestProject;
  let ids: string[];
  let logs: Map<string, string>;
  before(async () => {
    project = new TestProject({ tools: ['quick'], config: WITHOUT_SANDBOX });
    await project.run(['quick']);
    await cloneRuns(project.runsDir, RUNS - 1);
    await project.supervisorsExited();
    ids = project.runIds();
    logs = new Map(ids.map((id) => [id, readFileSync(join(project.runsDir, id, 'events.jsonl'), 'utf8')]));
    cpSync(project.runsDir, project.path('unpacked'), { recursive: true });
    await project.envelope(['clean', '--pack', '--keep', '0']);
    cpSync(project.runsDir, project.path('packed'), { recursive: true });
  });
  after(() => project[Symbol.dispose]());

  const open = () => new FileRunStore(project.runsDir, commandOf);

  /** Runs a command on copies of a store, and does something else to each at another step. Returns the number of steps. */
  async function atEachStep(
    what: 'signal=SIGKILL' | 'error=EIO',
    from: string,
    command: readonly string[],
    check: (store: FileRunStore) => void | Promise<void>,
  ): Promise<number> {
    let steps = 0;
    const log = project.path('trace');
    for (const call of STEPS) {
      for (let number = 1; ; number++) {
        rmSync(project.runsDir, { recursive: true, force: true });
        cpSync(project.path(from), project.runsDir, { recursive: true });
        const trace = ['-f', '-qq', '-o', log, '-e', `trace=${call}`];
        const inject = ['-e', `inject=${call}:${what}:when=${number}`];
        const { signal } = spawnSync('strace', [...trace, ...inject, ...command], {
          cwd: project.root,
          env: project.environment(),
          stdio: 'ignore',
        });
        await assertSound();
        await check(open());
        await assertSound();
        if (signal === null && !readFileSync(log, 'utf8').includes('(INJECTED)')) break;
        steps++;
      }
    }
    return steps;
  }

  async function assertSound(): Promise<void> {
    const { runs, ledger } = await verifyStore(open());
    assert.deepEqual([...runs.flatMap(({ problems }) => problems), ...ledger], []);
  }

  function logOf(store: FileRunStore, runId: string): string {
    using log = store.openLog(runId);
    const bytes = Buffer.alloc(log.size);
    log.read(bytes, 0);
    return bytes.toString('utf8');
  }

  function assertAllThere(store: FileRunStore): void {
    assert.deepEqual(store.listNow(), ids);
    for (const id of ids) {
      assert.equal(logOf(store, id), logs.get(id));
      assert.equal(store.readNow(id).run_id, id);
    }
  }

  it('at any step of packing loses, doubles and changes no run when it is killed; the next one packs all of them', async () => {
    const steps = await atEachStep(
      'signal=SIGKILL',
      'unpacked',
      [ACOR, 'clean', '--pack', '--keep', '0'],
      async (store) => {
        assertAllThere(store);
        await packRuns(store, selectPackable(store, { keep: 0 }));
        assertAllThere(open());
        assert.deepEqual(project.runIds(), []);
        assert.deepEqual(readdirSync(join(project.runsDir, 'removed')), []);
        const names = readdirSync(join(project.runsDir, 'packs'));
        assert.ok(
          names.every((name) => name.endsWith('.pack')),
          names.join(' '),
        );
        const copies = [...open().files.packed.tables()].flatMap(({ table }) => table!.ids());
        assert.deepEqual(copies.sort(), ids);
      },
    );
    assert.ok(steps > 20, String(steps));
  });

  it('at no step of packing loses a run when the disk fails', async () => {
    const steps = await atEachStep(
      'error=EIO',
      'unpacked',
      [ACOR, 'clean', '--pack', '--keep', '0'],
      assertAllThere,
    );
    assert.ok(steps > 20, String(steps));
  });

  it('at any step of removing packed runs, when it is killed, leaves each of them as it was, or gone and entered as cleaned', async () => {
    const steps = await atEachStep('signal=SIGKILL', 'packed', [ACOR, 'clean', '--keep', '1'], (store) => {
      const there = store.listNow();
      for (const id of there) assert.equal(logOf(store, id), logs.get(id));
      const cleaned = new Ledger(project.runsDir).lines().map((line) => JSON.parse(line));
      for (const id of ids.filter((each) => !there.includes(each)))
        assert.ok(
          cleaned.some(({ type, run_id }) => type === 'cleaned' && run_id === id),
          id,
        );
    });
    assert.deepEqual(open().listNow(), ids.slice(-1));
    assert.ok(steps > 10, String(steps));
  });

  it('at any step of unpacking loses, doubles and changes no run when it is killed', async () => {
    const program = join(ROOT, 'test', 'fixtures', 'take-over.ts');
    const bun = join(ROOT, 'node_modules', '.bin', 'bun');
    const steps = await atEachStep(
      'signal=SIGKILL',
      'packed',
      [bun, program, project.runsDir, ids[1]!],
      async (store) => {
        assertAllThere(store);
        await (await store.takeOver(ids[1]!)).close();
        assertAllThere(open());
        assert.deepEqual(project.runIds(), [ids[1]]);
      },
    );
    assert.ok(steps > 8, String(steps));
  });
});
