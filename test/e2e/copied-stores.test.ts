import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { processesOf, type Running, TestProject, until, WITHOUT_SANDBOX } from '../support/project.ts';
import { watchdogsOf } from '../support/watchdogs.ts';

const MAKES = `#!/bin/sh
echo made > "$ARTIFACTS_DIR/made.txt"
echo '{"type":"result","status":"ok"}'
`;
const CONFIGS = { 'in a sandbox': undefined, 'without a sandbox': WITHOUT_SANDBOX };

/** A store and its copy, each with a live attempt of the same run. */
interface TwoLive {
  runId: string;
  original: { project: TestProject; running: Running };
  copy: { project: TestProject; running: Running };
}

for (const [name, config] of Object.entries(CONFIGS)) {
  describe(`two live runs of one id in copies of a store, ${name}`, () => {
    const newProject = () => new TestProject({ tools: ['holds'], ...(config !== undefined && { config }) });

    it('the death of one supervisor leaves the processes of the other run alive', async () => {
      using original = newProject();
      using copy = newProject();
      const live = await bothLive(original, copy);
      const others = await lastingProcessesIn(original, live.runId);
      live.copy.running.child.kill('SIGKILL');
      await live.copy.running.finished;
      // The watchdog of the copy is done.
      await until(() => processesIn(copy, live.runId).length === 0 && watchdogsOf(live.runId).length === 1);
      await stillWorks(live, others);
    });

    it('the cancel of one leaves the processes of the other run alive', async () => {
      using original = newProject();
      using copy = newProject();
      const live = await bothLive(original, copy);
      const others = await lastingProcessesIn(original, live.runId);
      assert.equal((await copy.acor(['cancel', live.runId])).code, 0);
      await live.copy.running.finished;
      assert.equal((await copy.envelope(['show', live.runId])).data.state, 'cancelled');
      assert.deepEqual(processesIn(copy, live.runId), []);
      await stillWorks(live, others);
    });
  });
}

describe('the artifacts of an ended run in a copy of its store', () => {
  for (const isPacked of [false, true])
    it(`are those of the copy, also when the original is changed or gone${isPacked ? ', in a pack' : ''}`, async () => {
      using original = new TestProject();
      using copy = new TestProject();
      original.write('tools/makes/tool.yaml', 'name: makes\nversion: 1.0.0\ndescription: Makes a file.\n');
      original.write('tools/makes/cli.sh', MAKES, 0o755);
      const { end } = await original.run(['makes']);
      const runId = String(end.run_id);
      await original.supervisorsExited();
      if (isPacked) assert.equal((await original.acor(['clean', '--pack', '--keep', '0'])).code, 0);
      assert.equal(spawnSync('cp', ['-a', original.runsDir, copy.runsDir]).status, 0);
      const [{ path }] = end.artifacts as [{ path: string }];
      if (isPacked) rmSync(original.runsDir, { recursive: true });
      else original.write(`.runs/${path.split('/.runs/')[1]}`, 'changed');
      const read = await copy.envelope(['artifact', runId, '1']);
      assert.equal(read.data?.content, 'made\n', JSON.stringify(read));
      assert.equal((await copy.acor(['verify', runId])).code, 0);
      const here = join(copy.runsDir, path.slice(path.indexOf(runId)));
      for (const command of ['artifacts', 'show', 'wait'])
        assert.equal((await copy.envelope([command, runId])).data.artifacts[0].path, here, command);
      // By its path in either store.
      for (const name of [here, path])
        assert.equal((await copy.envelope(['artifact', runId, name])).data?.content, 'made\n', name);
    });
});

/** Kills the supervisor of a run, copies its store, and resumes the run in both stores. */
async function bothLive(original: TestProject, copy: TestProject): Promise<TwoLive> {
  const first = original.start(['run', 'holds', 'go']);
  const runId = String((await first.event('heartbeat')).run_id);
  first.child.kill('SIGKILL');
  await first.finished;
  await until(() => processesOf(runId).length === 0 && watchdogsOf(runId).length === 0);
  assert.equal(spawnSync('cp', ['-a', original.runsDir, copy.runsDir]).status, 0);
  const [one, other] = [original, copy].map((project) => ({
    project,
    running: project.start(['resume', runId]),
  })) as [TwoLive['original'], TwoLive['copy']];
  for (const { running } of [one, other]) await running.event('heartbeat');
  for (const { project } of [one, other]) assert.notDeepEqual(processesIn(project, runId), []);
  return { runId, original: one, copy: other };
}

async function stillWorks({ runId, original }: TwoLive, before: readonly number[]): Promise<void> {
  const { project, running } = original;
  const now = processesOf(runId);
  assert.notDeepEqual(before, []);
  assert.deepEqual(
    before.filter((pid) => !now.includes(pid)),
    [],
  );
  assert.equal((await project.envelope(['show', runId])).data.state, 'running');
  project.write(`.runs/${runId}/work/go`, '');
  assert.equal((await running.finished).code, 0);
}

/** The processes of the run that outlive rounds of the tool's loop: the shell forks a `sleep` in each. */
async function lastingProcessesIn(project: TestProject, runId: string): Promise<number[]> {
  const before = processesIn(project, runId);
  const events = `${project.runsDir}/${runId}/events.jsonl`;
  const sizeBefore = statSync(events).size;
  // Several heartbeats are stored: every fork of the first look has ended or became a `sleep`.
  await until(() => statSync(events).size > sizeBefore + 2_000);
  return processesIn(project, runId).filter((pid) => before.includes(pid));
}

/** The processes of the run whose environment names this project, without those that come and go. */
function processesIn(project: TestProject, runId: string): number[] {
  return processesOf(runId).filter((pid) => !isSleep(pid) && textOf(pid, 'environ').includes(project.root));
}

function isSleep(pid: number): boolean {
  return textOf(pid, 'comm').trim() === 'sleep';
}

function textOf(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
