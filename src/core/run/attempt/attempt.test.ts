import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { processesOf, TestProject, until } from '../../../../test/support/project.ts';
import { watchdogsOf } from '../../../../test/support/watchdogs.ts';
import { commandOf } from '../../../operations/command-forms.ts';
import { loadAdapter } from '../../adapters/index.ts';
import { loadConfig } from '../../config/load.ts';
import { loadRuntime } from '../../process/load-runtime.ts';
import type { Runtime, SpawnedProcess } from '../../process/runtime.ts';
import { Registry } from '../../registry/registry.ts';
import { groupPlaces } from '../../sandbox/groups/group-places.ts';
import { FileRunQueue } from '../../store-files/file-run-queue.ts';
import { FileRunStore } from '../../store-files/file-run-store.ts';
import type { RunnerServices } from '../services.ts';
import { startRun } from '../start-run.ts';
import { Workspaces } from '../workspace.ts';
import type { AdapterKind } from './adapter.ts';

const TOOL = `#!/bin/sh
sleep 600 &
echo '{"type":"result","status":"ok"}'
`;
const MANIFEST = `name: leaves
version: 1.0.0
description: Leaves a process.
actions: [choose]
resources: { memory_mb: 900, processes: 400 }
`;

const isLinux = process.platform === 'linux';

describe('an attempt in which something throws', { skip: !isLinux && 'Linux' }, () => {
  let project: TestProject;
  let services: RunnerServices;
  before(async () => {
    project = new TestProject();
    project.write('tools/leaves/tool.yaml', MANIFEST);
    project.write('tools/leaves/cli.sh', TOOL, 0o755);
    project.write(
      'tools/stays/tool.yaml',
      'name: stays\nversion: 1.0.0\ndescription: Stays.\ntimeout_s: 1\n',
    );
    project.write('tools/stays/cli.sh', '#!/bin/sh\nsleep 600\n', 0o755);
    // Without a manifest: it is stopped without a grace period.
    project.write('tools/hangs/cli.sh', '#!/bin/sh\nsleep 600\n', 0o755);
    services = {
      config: await configWith({}),
      registry: Registry.open(await configWith({}), undefined),
      store: new FileRunStore(project.runsDir, commandOf),
      queue: new FileRunQueue(project.runsDir),
      workspaces: new Workspaces(project.runsDir),
      runtime: await loadRuntime(),
      adoptsOrphans: false,
      loadAdapter,
    };
    // Whatever the process opens once and keeps is open from here on.
    await endOf(services);
  });
  after(() => project[Symbol.dispose]());

  const configWith = (env: Record<string, string>) =>
    loadConfig({
      cwd: project.root,
      env: { ...process.env, ACOR_ENVIRONMENT_CANCEL_GRACE_S: '0.1', ...env },
    });

  async function endOf(faulty: RunnerServices) {
    const request = { kind: 'tool' as const, tool: 'leaves', args: [], cwd: project.root, env: process.env };
    const run = await startRun(faulty, request);
    return { ...(await run.ended), layout: services.workspaces.of(run.runId) };
  }

  async function assertNothingIsLeft(faulty: RunnerServices, message: RegExp): Promise<void> {
    const before = openFiles();
    // Other tests of this process may hold some.
    const claimedBefore = claimedUsers();
    const { state, message: said, run_id, survivors, layout } = await endOf(faulty);
    assert.equal(state, 'failed');
    assert.match(said ?? '', message);
    assert.deepEqual(survivors, []);
    assert.deepEqual(processesOf(run_id), []);
    await until(() => watchdogsOf(run_id).length === 0);
    for (const folder of [layout.control, layout.streams])
      assert.deepEqual(
        existsSync(folder) ? readdirSync(folder).filter((name) => !name.endsWith('.log')) : [],
        [],
      );
    assert.deepEqual(claimedUsers(), claimedBefore);
    assert.equal(existsSync(layout.ownershipRecord), false);
    assert.deepEqual(groupsOf(run_id), []);
    await until(() => openFiles().length <= before.length);
  }

  it('before the tool has started leaves nothing of it', async () => {
    const failed = () => Promise.reject(new Error('no adapter today'));
    await assertNothingIsLeft({ ...services, loadAdapter: failed }, /no adapter today/);
    await assertNothingIsLeft(withAdapter({ make: fail('no output') }), /no output/);
    const runtime = withRuntime({
      spawn: () => Promise.reject(Object.assign(new Error(), { code: 'ENOENT' })),
    });
    await assertNothingIsLeft({ ...services, runtime }, /cannot start .*: no such program/);
    // Without a sandbox, control groups count the processes.
    const config = await configWith({ ACOR_SECURITY_ISOLATION: 'off' });
    await assertNothingIsLeft({ ...services, config, runtime }, /cannot start .*: no such program/);
  });

  it('after its sandbox has been started ahead leaves nothing of it', {
    skip: process.getuid?.() !== 0 && 'needs a sandbox',
  }, async () => {
    const programs: string[] = [];
    const spawn: Runtime['spawn'] = (request) => {
      programs.push(basename(request.argv[0]));
      return services.runtime.spawn(request);
    };
    const store = Object.create(services.store) as FileRunStore;
    store.create = async (record) => {
      const writer = await services.store.create(record);
      const update = writer.update.bind(writer);
      writer.update = (change) =>
        change.state === 'running' ? Promise.reject(new Error('no record today')) : update(change);
      return writer;
    };
    const faulty = { ...services, store, runtime: withRuntime({ spawn }) };
    await assertNothingIsLeft(faulty, /no record today/);
    assert.deepEqual(programs, ['bwrap']);
  });

  it('keeps nothing of its start while it waits in the queue', {
    skip: process.getuid?.() !== 0 && 'needs a sandbox',
  }, async () => {
    const config = await configWith({ ACOR_BUDGET_MAX_RUNS: '1' });
    const request = { kind: 'tool' as const, args: [], cwd: project.root, env: process.env };
    const first = await startRun({ ...services, config }, { ...request, tool: 'stays' });
    await until(() => processesOf(first.runId).some(isSleep));
    const claimed = claimedUsers();
    const second = await startRun({ ...services, config }, { ...request, tool: 'leaves' });
    const saysThatItWaits = () =>
      readFileSync(join(services.workspaces.of(second.runId).dir, 'events.jsonl'), 'utf8').includes(
        'queue slot',
      );
    await until(saysThatItWaits);
    await until(() => processesOf(second.runId).length === 0 && watchdogsOf(second.runId).length === 0);
    assert.deepEqual(claimedUsers(), claimed);
    await Promise.all([first.ended, second.ended]);
    assert.equal((await second.ended).code, (await endOf(services)).code);
  });

  it('while the tool is starting leaves nothing of it', async () => {
    const { runtime } = services;
    const spawn = async (request: Parameters<Runtime['spawn']>[0]) => {
      const { pid, exited } = await runtime.spawn(request);
      return {
        pid,
        exited,
        stderr: null,
        holdsProcess() {},
        get stdout(): never {
          throw new Error('no pump');
        },
      } as SpawnedProcess;
    };
    await assertNothingIsLeft({ ...services, runtime: withRuntime({ spawn }) }, /no pump/);
  });

  it('is cancelled when it is stopped before its sandbox is up', async () => {
    const started = Promise.withResolvers<Awaited<ReturnType<typeof startRun>>>();
    const spawn: Runtime['spawn'] = async (request) => {
      // As deep as the processes of a sandbox; none of them reports that the sandbox is up.
      const argv: [string, ...string[]] = ['/bin/sh', '-c', '(sleep 600; exit 143); exit 143'];
      const child = await services.runtime.spawn({ ...request, argv });
      void started.promise.then((run) => run.cancel('enough'));
      return child;
    };
    const request = { kind: 'tool' as const, tool: 'hangs', args: [], cwd: project.root, env: process.env };
    const run = await startRun({ ...services, runtime: withRuntime({ spawn }) }, request);
    started.resolve(run);
    const { state, message, rc, signal } = await run.ended;
    assert.deepEqual([state, rc, signal], ['cancelled', null, null], message ?? '');
  });

  it('ends when the kernel never reports the end of a killed tool', async () => {
    const { runtime } = services;
    const spawn = async (request: Parameters<Runtime['spawn']>[0]) => {
      const child = await runtime.spawn(request);
      return { ...child, exited: new Promise<never>(() => {}) };
    };
    const request = { kind: 'tool' as const, tool: 'stays', args: [], cwd: project.root, env: process.env };
    const run = await startRun({ ...services, runtime: withRuntime({ spawn }) }, request);
    const { state, code } = await run.ended;
    assert.deepEqual([state, code], ['failed', 'E_DEADLINE']);
  });

  it('ends at the deadline although this process is blocked, and reports the deadline', async () => {
    const request = { kind: 'tool' as const, tool: 'stays', args: [], cwd: project.root, env: process.env };
    const run = await startRun(services, request);
    // Its sandbox is there before the tool.
    await until(() => processesOf(run.runId).some(isSleep));
    const blockedUntil = Date.now() + 60_000;
    while (processesOf(run.runId).length > 0 && Date.now() < blockedUntil) execFileSync('sleep', ['0.05']);
    assert.deepEqual(processesOf(run.runId), []);
    const { state, code } = await run.ended;
    assert.deepEqual([state, code], ['failed', 'E_DEADLINE']);
    await until(() => watchdogsOf(run.runId).length === 0);
  });

  it('after the tool has ended leaves nothing of it', async () => {
    const { make, ...kind } = await loadAdapter('jsonl');
    const changed = (change: PropertyDescriptorMap) =>
      withAdapter({ ...kind, make: (context) => Object.defineProperties(make(context), change) });
    const files = { files: { get: fail('no files') } };
    const close = { close: { value: fail('not closed') } };
    await assertNothingIsLeft(changed(files), /no files/);
    await assertNothingIsLeft(changed(close), /not closed/);
    await assertNothingIsLeft(changed({ ...close, ...files }), /no files/);
  });

  function withAdapter(kind: AdapterKind): RunnerServices {
    return { ...services, loadAdapter: async () => kind };
  }

  function withRuntime(change: Partial<Runtime>): Runtime {
    return { ...services.runtime, ...change };
  }
});

function fail(message: string): () => never {
  return () => {
    throw new Error(message);
  };
}

function isSleep(pid: number): boolean {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('sleep\0');
}

/** The control groups of a run, where this process may make them. */
function groupsOf(runId: string): string[] {
  return groupPlaces()
    .filter(({ folder }) => existsSync(folder))
    .flatMap(({ folder }) => readdirSync(folder))
    .filter((name) => name.includes(runId));
}

/** The users that this process holds for runs. */
function claimedUsers(): string[] {
  const folder = '/run/acor-users';
  if (!existsSync(folder)) return [];
  return readdirSync(folder).filter((uid) => {
    try {
      return readFileSync(join(folder, uid), 'utf8').includes(`"pid":${process.pid},`);
    } catch {
      // Another process has ended its run.
      return false;
    }
  });
}

function openFiles(): string[] {
  return readdirSync('/proc/self/fd');
}
