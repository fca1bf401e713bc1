import assert from 'node:assert/strict';
import { existsSync, rmSync } from 'node:fs';
import { it } from 'node:test';
import { identify, isRunning } from '../../src/util/process-table.ts';
import { processesOf, TestProject, until } from '../support/project.ts';

it('a run whose folder is removed ends with its supervisor, and neither creates the folder again', async () => {
  using project = new TestProject({ tools: ['heeds_cancel'] });
  const { data } = await project.envelope(['run', '--detach', 'heeds_cancel']);
  await until(() => processesOf(data.run_id).length > 0);
  const supervisor = identify(project.record(data.run_id)!.pid);
  assert.equal(isRunning(supervisor), true);
  rmSync(project.runsDir, { recursive: true, force: true });
  await until(() => !isRunning(supervisor));
  assert.deepEqual(processesOf(data.run_id), []);
  assert.equal(existsSync(project.runsDir), false);
});
