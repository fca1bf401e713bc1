import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { until } from '../../../../test/support/project.ts';
import { SandboxRig } from '../../../../test/support/sandbox-rig.ts';
import { bubblewrap } from '../backends/bubblewrap.ts';
import { landlock } from '../backends/landlock.ts';
import { none } from '../backends/none.ts';
import { tasksFor } from '../profile/limits.ts';
import { type GroupFacts, groupPlaces } from './group-places.ts';
import { groupNameOf, RunGroups, removeRunGroups } from './run-groups.ts';

const V1 = `31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids`;
const V2 = '30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate';
const SCOPE = '/user.slice/user-1000.slice/user@1000.service/app.slice/run-1.scope';

function places(facts: Partial<GroupFacts>) {
  const nothing: GroupFacts = {
    mounts: '',
    own: '',
    uid: 0,
    ownerOf: () => 0,
    controllersOf: () => 'cpu memory pids',
  };
  return groupPlaces({ ...nothing, ...facts }).map(({ controllers, folder }) => `${controllers} ${folder}`);
}

describe('groups of processes can be made', () => {
  it('by root at the root of a hierarchy, and not where another program has grouped this process', () => {
    assert.deepEqual(places({ mounts: V1, own: '8:pids:/\n4:memory:/\n' }), [
      'memory /sys/fs/cgroup/memory/acor',
      'pids /sys/fs/cgroup/pids/acor',
    ]);
    assert.deepEqual(places({ mounts: V1, own: '8:pids:/\n4:memory:/jobs/1\n' }), [
      'pids /sys/fs/cgroup/pids/acor',
    ]);
  });

  it('by an ordinary user in a delegated group, and nowhere else', () => {
    const user = { uid: 1000, mounts: V2, own: `0::${SCOPE}\n` };
    const ownerOf = (folder: string) => (folder === `/sys/fs/cgroup${SCOPE}` ? 1000 : 0);
    assert.deepEqual(places({ ...user, ownerOf }), [`memory,pids /sys/fs/cgroup${SCOPE}/acor`]);
    assert.deepEqual(places(user), []);
    assert.deepEqual(places({ ...user, ownerOf, controllersOf: () => 'hugetlb' }), []);
    assert.deepEqual(places({ uid: 1000, mounts: V1, own: '8:pids:/\n4:memory:/\n' }), []);
  });

  it('in the same place by a supervisor that has moved aside for it', () => {
    const own = `0::${SCOPE}/acor/supervisors\n`;
    const ownerOf = () => 1000;
    assert.deepEqual(places({ uid: 1000, mounts: V2, own, ownerOf }), [
      `memory,pids /sys/fs/cgroup${SCOPE}/acor`,
    ]);
  });

  it('below the mount of a container, and not where that may only be read', () => {
    const mount = '40 30 0:32 /docker/1 /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory';
    const own = '4:memory:/docker/1\n';
    assert.deepEqual(places({ mounts: mount, own }), ['memory /sys/fs/cgroup/memory/acor']);
    assert.deepEqual(places({ mounts: mount.replace(' rw - ', ' ro - '), own }), []);
    assert.deepEqual(places({ mounts: mount, own: '4:memory:/docker/2\n' }), []);
  });
});

describe('the group of a run', () => {
  /** A folder as the kernel shows a group: what the kernel does itself is done by the test. */
  let fake: string;
  before(() => {
    fake = mkdtempSync(join(tmpdir(), 'acor-group-'));
  });
  after(() => rmSync(fake, { recursive: true, force: true }));

  it('gets the limits, and reports when the kernel has killed a process for lack of memory', () => {
    const kinds = [
      {
        version: 1,
        limit: 'memory.limit_in_bytes',
        swap: 'memory.memsw.limit_in_bytes',
        events: 'memory.oom_control',
      },
      { version: 2, limit: 'memory.max', swap: 'memory.swap.max', events: 'memory.events' },
    ] as const;
    for (const { version, limit, swap, events } of kinds) {
      const parent = mkdtempSync(join(fake, 'v'));
      writeFileSync(join(parent, 'cgroup.subtree_control'), 'memory pids');
      const folder = join(parent, 'r-1');
      mkdirSync(folder);
      for (const name of ['cgroup.procs', 'tasks', limit, swap, 'pids.max'])
        writeFileSync(join(folder, name), '');
      writeFileSync(join(folder, events), 'oom 3\noom_kill 2\n');
      const place = { version, controllers: ['memory', 'pids'] as const, folder: parent };
      const groups = RunGroups.make(
        'r-1',
        { memory_mb: 50, processes: 8 },
        { mayMove: false, places: [place] },
      );
      const written = [limit, swap, 'pids.max'].map((name) => readFileSync(join(folder, name), 'utf8'));
      assert.deepEqual(written, ['50000000', version === 1 ? '50000000' : '0', String(tasksFor(8))]);
      const entries = groups.fds.map((fd) => basename(readlinkSync(`/proc/self/fd/${fd}`)));
      assert.deepEqual(
        entries,
        [version === 1 ? 'tasks' : 'cgroup.procs'],
        'the one that needs no lock over all',
      );
      assert.equal(groups.ranOutOfMemory, false, 'that was before');
      writeFileSync(join(folder, events), 'oom 4\noom_kill 3\n');
      assert.equal(groups.ranOutOfMemory, true);
    }
  });

  it('is done without where the kernel has no such limit', () => {
    const place = { version: 1 as const, controllers: ['memory'] as const, folder: fake };
    const groups = RunGroups.make('r-1', { memory_mb: 1 }, { mayMove: false, places: [place] });
    assert.deepEqual([groups.controllers, groups.fds], [[], []]);
    assert.equal(existsSync(join(fake, 'r-1')), false);
  });

  it('is done without where it may not be made', () => {
    writeFileSync(join(fake, 'file'), '');
    const folder = join(fake, 'file', 'below');
    for (const version of [1, 2] as const) {
      const place = { version, controllers: ['pids'] as const, folder };
      const groups = RunGroups.make('r-1', { processes: 1 }, { mayMove: false, places: [place] });
      assert.deepEqual(groups.fds, []);
    }
  });
});

it('the groups of a run in a copy of its store have another name', () => {
  const [store, copy] = [
    mkdtempSync(join(tmpdir(), 'acor-groups-')),
    mkdtempSync(join(tmpdir(), 'acor-groups-')),
  ];
  const nameIn = (folder: string) => groupNameOf({ runId: 'r-1', folder });
  symlinkSync(store, join(copy, 'link'));
  assert.notEqual(nameIn(store), nameIn(copy));
  assert.equal(nameIn(join(copy, 'link')), nameIn(store));
  for (const folder of [store, copy]) rmSync(folder, { recursive: true });
});

const real = groupPlaces();

describe('a tool in a group of the kernel', { skip: real.length === 0 }, () => {
  let rig: SandboxRig;
  before(async () => {
    rig = await SandboxRig.make();
  });
  after(() => rig.remove());
  const folders = (runId: string) => real.map(({ folder }) => join(folder, runId));

  for (const backend of [bubblewrap, landlock, none]) {
    it(`joins before it starts, under '${backend.name}', and leaves no group behind`, async (t) => {
      if (!(await backend.probe()).available) return t.skip(`${backend.name} is not here`);
      const groups = RunGroups.make(rig.runId, { memory_mb: 500, processes: 10 }, { mayMove: false });
      const running = await rig.start(backend, 'echo ready; exec sleep 600', {
        groups: groups.fds,
      });
      await until(() => running.stdout() === 'ready\n');
      for (const folder of folders(rig.runId)) {
        const inside = readFileSync(join(folder, 'cgroup.procs'), 'utf8').trim().split('\n').map(Number);
        const tool = running.tree.members().at(-1)!.pid;
        assert.ok(inside.includes(tool), `${tool} is not among ${inside}`);
      }
      await running.tree.kill();
      await running.ended;
      await groups.remove();
      assert.deepEqual(folders(rig.runId).filter(existsSync), []);
    });
  }

  const hasMemory = real.some(({ controllers }) => controllers.includes('memory'));
  it('is ended by the kernel when the group has no memory left', { skip: !hasMemory }, async () => {
    const take = `perl -e '$x = "a" x 100_000_000'`;
    const killed: (boolean | null)[] = [];
    for (const memory_mb of [40, 400]) {
      const groups = RunGroups.make(rig.runId, { memory_mb }, { mayMove: false });
      await rig.bash(none, take, { groups: groups.fds });
      killed.push(groups.ranOutOfMemory);
      await groups.remove();
    }
    assert.deepEqual(killed, [true, false]);
  });

  it('starts all the same when its group is gone by then', async () => {
    const groups = RunGroups.make(rig.runId, { memory_mb: 500, processes: 10 }, { mayMove: false });
    await removeRunGroups(rig.runId);
    assert.deepEqual(folders(rig.runId).filter(existsSync), []);
    const { rc, stdout } = await rig.bash(bubblewrap, 'echo here', { groups: groups.fds });
    assert.deepEqual([rc, stdout], [0, 'here\n']);
    await groups.remove();
  });
});
