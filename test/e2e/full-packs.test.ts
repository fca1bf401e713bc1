import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { needsMounts, ProjectWithMounts } from '../support/mount-namespace.ts';

const canTrace = spawnSync('strace', ['-o', '/dev/null', 'true'], { stdio: 'ignore' }).status === 0;
const needsStrace = 'skip' in needsMounts || canTrace ? needsMounts : { skip: 'needs strace' };

/** A project with a store of 6 MB, and a tool that leaves so many bytes in its workspace which cannot be compressed. */
async function open(): Promise<ProjectWithMounts> {
  const project = await ProjectWithMounts.open({});
  project.write('tools/leaves/cli.sh', 'head -c "$1" /dev/urandom > left.bin\n');
  project.mountSmall('.runs', 'size=6m');
  return project;
}

/** Starts runs that leave so many bytes each, one after the other, and packs them. Returns their ids. */
async function packed(project: ProjectWithMounts, bytes: number, count: number): Promise<string[]> {
  const runIds: string[] = [];
  for (let n = 0; n < count; n++) {
    const { data, error } = await project.envelope(['run', 'leaves', '--no-stream', String(bytes)]);
    assert.equal(data?.state, 'completed', JSON.stringify(error));
    runIds.push(data.run_id);
  }
  const { data } = await project.envelope(['clean', '--pack', '--keep', '0']);
  assert.deepEqual(data.packed.sort(), runIds.toSorted());
  return runIds;
}

const packsOf = (project: ProjectWithMounts) =>
  readdirSync(join(project.runsDir, 'packs')).filter((name) => name.endsWith('.pack'));

/** What `clean --keep` said, which must be sound afterwards. */
async function cleaned(project: ProjectWithMounts, keep: number) {
  const { data, error, meta } = await project.envelope(['clean', '--keep', String(keep)]);
  assert.equal((await project.envelope(['verify'])).code, 0);
  return { data, error, next: meta?.next };
}

describe('on a full disk, the runs of packs', needsMounts, () => {
  it('are removed: first packs as a whole, which need no room, then the others of the freed room', async () => {
    using project = await open();
    const first = await packed(project, 100_000, 3);
    const second = await packed(project, 20_000, 3);
    project.fill('.runs');
    const { data, error } = await cleaned(project, 2);
    assert.deepEqual(data?.removed.sort(), [...first, second[0]].sort(), JSON.stringify(error));
    assert.deepEqual(data.skipped, []);
    assert.equal(packsOf(project).length, 1);
    project.fill('.runs');
    assert.deepEqual((await cleaned(project, 0)).data?.removed.sort(), second.slice(1).sort());
    assert.deepEqual(readdirSync(join(project.runsDir, 'packs')), []);
    project.freeSpace('.runs');
    assert.equal((await project.envelope(['run', 'leaves', '--no-stream', '9'])).data?.state, 'completed');
  });

  it('that cannot be removed are named, with the pack, the room that it needs, and a command that needs none', async () => {
    using project = await open();
    const small = await packed(project, 1000, 2);
    const large = await packed(project, 400_000, 3);
    project.fill('.runs');
    const { data, next } = await cleaned(project, 2);
    assert.deepEqual(data.removed.sort(), small.toSorted());
    const [{ run_id, reason }] = data.skipped;
    assert.deepEqual([data.skipped.length, run_id], [1, large[0]]);
    const [pack] = packsOf(project);
    assert.match(
      reason,
      new RegExp(
        `^no space left to write the pack .*/${pack} again without 1 run: that needs 8\\d{5} bytes$`,
      ),
    );
    assert.deepEqual(next, ['acor clean --keep 0']);

    const removed = await project.envelope(['runs', 'rm', large[0]!]);
    assert.deepEqual([removed.error?.code, removed.error?.message], ['E_DISK_FULL', reason]);
    assert.equal((await project.envelope(['verify'])).code, 0);
    // The control: with that room it is removed.
    project.shell('truncate -s -900k .runs/filler');
    assert.equal((await project.envelope(['runs', 'rm', large[0]!])).ok, true);
    project.fill('.runs');
    const failed = await project.envelope(['runs', 'rm', large[1]!]);
    assert.deepEqual(failed.meta?.next, ['acor clean --keep 0']);
    assert.deepEqual((await cleaned(project, 0)).data?.removed.sort(), large.slice(1).sort());
  });

  it(
    'are entered as removed when the removal of their pack is killed at any moment',
    needsStrace,
    async () => {
      using project = await open();
      const moments = [
        ['rename', 1],
        ['pwrite64', 1],
        ['ftruncate', 1],
        ['fdatasync', 1],
        ['unlink', 1],
      ] as const;
      let reported = 0;
      for (const [call, nth] of moments) {
        await packed(project, 50_000, 2);
        project.fill('.runs');
        const within = `exec strace -qqq -o /dev/null -e trace=${call} -e inject=${call}:signal=SIGKILL:when=${nth} "$@"`;
        const killed = project.start(['clean', '--keep', '0'], { within });
        const { signal } = await killed.finished;
        assert.equal(signal, 'SIGKILL', call);
        if ((await project.envelope(['verify'])).code !== 0) reported++;
        project.fill('.runs');
        const { error } = await cleaned(project, 0);
        assert.equal(error, undefined, call);
        assert.deepEqual(
          [
            ...packsOf(project),
            ...readdirSync(project.runsDir).filter((name) => name.startsWith('emptied-')),
          ],
          [],
          call,
        );
        project.freeSpace('.runs');
      }
      assert.ok(reported > 0, 'the control: a kill came before the entry');
    },
  );

  it('are packed in smaller packs where there is room for those only, and the others are named', async () => {
    using project = await open();
    const runIds: string[] = [];
    for (let n = 0; n < 4; n++) {
      const { data } = await project.envelope(['run', 'leaves', '--no-stream', '100000']);
      runIds.push(data.run_id);
    }
    project.fill('.runs');
    const full = await project.envelope(['clean', '--pack', '--keep', '0']);
    assert.equal(full.error?.code, 'E_DISK_FULL');
    assert.deepEqual(project.runIds(), runIds);
    project.shell('truncate -s -200k .runs/filler');
    const { data, error } = await project.envelope(['clean', '--pack', '--keep', '0']);
    assert.deepEqual([data?.packed.sort(), data?.skipped], [runIds.toSorted(), []], JSON.stringify(error));
    assert.ok(packsOf(project).length > 1);
    assert.equal((await project.envelope(['verify'])).code, 0);
    for (const name of packsOf(project))
      assert.ok(statSync(join(project.runsDir, 'packs', name)).size > 100_000);
  });
});
