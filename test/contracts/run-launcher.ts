import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { LaunchRequest, RunLauncher } from '../../src/core/ports/run-launcher.ts';
import type { RunStore } from '../../src/core/ports/run-store.ts';
import { followToEnd } from '../../src/core/run/follow-to-end.ts';
import { readRun } from '../../src/core/run/read-run.ts';
import { TestProject, WITHOUT_SANDBOX } from '../support/project.ts';

/** Opens a launcher for a project, and the store in which its runs are. */
export type LauncherRig = (project: TestProject) => Promise<{ launcher: RunLauncher; store: RunStore }>;

/** The contract of every run launcher. */
export function runLauncherContract(name: string, rigOf: LauncherRig): void {
  describe(`the run launcher '${name}'`, () => {
    let project: TestProject;
    let rig: Awaited<ReturnType<LauncherRig>>;
    before(async () => {
      project = new TestProject({ tools: ['quick', 'holds', 'reads_stdin'], config: WITHOUT_SANDBOX });
      rig = await rigOf(project);
    });
    after(() => project[Symbol.dispose]());

    const request = (tool: string, args: string[] = []): LaunchRequest => {
      return { kind: 'tool', tool, args, cwd: project.root, env: project.environment() };
    };

    async function ended(runId: string) {
      for await (const _ of followToEnd(rig.store, runId, { since: 0 }));
      return readRun(rig.store, runId);
    }

    it('returns the id of a run that has begun, and the run ends by itself', async () => {
      const runId = await rig.launcher.start(request('quick'));
      assert.equal((await rig.store.read(runId)).tool, 'quick');
      assert.equal((await ended(runId)).state, 'completed');
    });

    it('supervises several runs at once', async () => {
      const go = project.path('go');
      const ids = [await rig.launcher.start(request('holds', [go]))];
      ids.push(await rig.launcher.start(request('holds', [go])));
      project.write('go', '');
      assert.deepEqual(await Promise.all(ids.map(async (id) => (await ended(id)).state)), [
        'completed',
        'completed',
      ]);
    });

    it('returns the run that an earlier call with the same idempotency key started', async () => {
      const keyed = { ...request('quick'), idempotencyKey: `key ${name}` };
      const runId = await rig.launcher.start(keyed);
      assert.equal(await rig.launcher.start(keyed), runId);
    });

    it('throws what kept a run from beginning, and launches the next one', async () => {
      await assert.rejects(rig.launcher.start(request('no_such_tool')), { code: 'E_TOOL_NOT_FOUND' });
      assert.equal((await ended(await rig.launcher.start(request('quick')))).state, 'completed');
    });

    it('launches the next run when the caller has seen the end of the last one', async () => {
      for (let count = 0; count < 4; count++) {
        const runId = await rig.launcher.start(request('quick'));
        assert.equal((await ended(runId)).state, 'completed');
        rig.launcher.ended(runId);
        rig.launcher.ended('r-unknown');
      }
    });

    it('says when the end of a run is in the store, if it says so at all', async () => {
      for (let count = 0; count < 4; count++) {
        const runId = await rig.launcher.start(request('quick'));
        const recorded = rig.launcher.recorded(runId);
        const record = recorded && (await recorded.then(() => rig.store.read(runId)));
        assert.equal((record ?? (await ended(runId))).state, 'completed');
      }
      assert.equal(rig.launcher.recorded('r-unknown'), undefined);
    });

    it('leaves what it started running when it is closed', async () => {
      const { launcher, store } = await rigOf(project);
      const runId = await launcher.start(request('holds', [project.path('go-on')]));
      launcher.close();
      project.write('go-on', '');
      for await (const _ of followToEnd(store, runId, { since: 0 }));
      assert.equal((await readRun(store, runId)).state, 'completed');
    });
  });
}
