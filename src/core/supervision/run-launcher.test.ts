import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { runLauncherContract } from '../../../test/contracts/run-launcher.ts';
import { TestProject, WITHOUT_SANDBOX } from '../../../test/support/project.ts';
import { inlineLauncher, servicesInMemory } from '../../../test/support/services-in-memory.ts';
import { commandOf } from '../../operations/command-forms.ts';
import { identify, isRunning } from '../../util/process-table.ts';
import { followToEnd } from '../run/follow-to-end.ts';
import { readRun } from '../run/read-run.ts';
import { FileRunStore } from '../store-files/file-run-store.ts';
import { SupervisorPool } from './supervisor-pool.ts';

runLauncherContract('pool of processes', async (project) => ({
  launcher: new SupervisorPool(project.environment()),
  store: new FileRunStore(project.runsDir, commandOf),
}));

runLauncherContract('in this process', async (project) => {
  const services = await servicesInMemory(project);
  return { launcher: inlineLauncher(services), store: services.store };
});

describe('a pool of processes', () => {
  it('says that nothing will record the end of a run whose supervisor was killed', async () => {
    using project = new TestProject({ tools: ['holds'], config: WITHOUT_SANDBOX });
    const env = project.environment();
    const pool = new SupervisorPool(env);
    const args = [project.path('never')];
    const runId = await pool.start({ kind: 'tool', tool: 'holds', args, cwd: project.root, env });
    const recorded = pool.recorded(runId);
    await project.killSupervisor(runId);
    await recorded;
    pool.close();
  });

  it('gives the next run to the supervisor of one that the caller has seen end, and a new one to a run besides', async () => {
    using project = new TestProject({ tools: ['quick', 'holds'], config: WITHOUT_SANDBOX });
    const pool = new SupervisorPool(project.environment());
    const store = new FileRunStore(project.runsDir, commandOf);
    const start = (tool: string, args: string[] = []) =>
      pool.start({ kind: 'tool', tool, args, cwd: project.root, env: project.environment() });
    const supervisorOf = async (runId: string) => (await store.read(runId)).supervisor?.pid;
    const toEnd = async (runId: string) => {
      for await (const _ of followToEnd(store, runId, { since: 0 }));
    };
    const holding = await start('holds', [project.path('go')]);
    const used = new Set<number | undefined>();
    for (let count = 0; count < 5; count++) {
      const runId = await start('quick');
      await toEnd(runId);
      pool.ended(runId);
      used.add(await supervisorOf(runId));
    }
    assert.equal(used.size, 1);
    assert.ok(!used.has(await supervisorOf(holding)));
    project.write('go', '');
    await toEnd(holding);
    pool.close();
  });

  it('replaces supervisors that died while they waited for a run', async () => {
    using project = new TestProject({ tools: ['quick'], config: WITHOUT_SANDBOX });
    const env = project.environment();
    const pool = new SupervisorPool(env);
    const store = new FileRunStore(project.runsDir, commandOf);
    const runOne = async () => {
      const runId = await pool.start({ kind: 'tool', tool: 'quick', args: [], cwd: project.root, env });
      for await (const _ of followToEnd(store, runId, { since: 0 }));
      pool.ended(runId);
      return (await store.read(runId)).supervisor.pid!;
    };
    const lost = identify(await runOne());
    process.kill(lost.pid, 'SIGKILL');
    // The events of this process have not reported its death yet.
    while (isRunning(lost));
    assert.notEqual(await runOne(), lost.pid);
    pool.close();
  });

  it('reports that a supervisor cannot be started to the call that needs one, and starts one for the next call', async () => {
    using project = new TestProject({ tools: ['holds'], config: WITHOUT_SANDBOX });
    const env = project.environment();
    const pool = new SupervisorPool(env, { spare: true });
    const args = [project.path('go')];
    const start = () => pool.start({ kind: 'tool', tool: 'holds', args, cwd: project.root, env });
    const program = process.execPath;
    try {
      process.execPath = project.path('removed');
      await assert.rejects(start(), { code: 'E_SPAWN_FAILED' });
      process.execPath = program;
      const first = start();
      // The first run has its supervisor by now, and the spare one is started when the run has begun.
      process.execPath = project.path('removed');
      await first;
    } finally {
      process.execPath = program;
    }
    await start();
    project.write('go', '');
    pool.close();
  });

  it('gives further runs to the supervisors that it has, up to 16 each', async () => {
    using project = new TestProject({ tools: ['holds'], config: WITHOUT_SANDBOX });
    const pool = new SupervisorPool(project.environment(), { most: 2 });
    const store = new FileRunStore(project.runsDir, commandOf);
    const counts = new Map<number | undefined, number>();
    const ids: string[] = [];
    for (let count = 0; count < 33; count++) {
      const args = [project.path('go')];
      ids.push(
        await pool.start({
          kind: 'tool',
          tool: 'holds',
          args,
          cwd: project.root,
          env: project.environment(),
        }),
      );
      const { pid } = (await store.read(ids.at(-1)!)).supervisor;
      counts.set(pid, (counts.get(pid) ?? 0) + 1);
    }
    assert.deepEqual([...counts.values()], [16, 16, 1]);
    project.write('go', '');
    for (const id of ids) {
      for await (const _ of followToEnd(store, id, { since: 0 }));
      assert.equal((await readRun(store, id)).state, 'completed');
    }
    pool.close();
  });
});
