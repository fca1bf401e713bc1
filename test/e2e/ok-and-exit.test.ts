import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TestProject, until } from '../support/project.ts';

describe('an envelope and the exit code of its command', () => {
  it('agree for a cancelled run: E_CANCELLED, with its data and how to go on', async () => {
    using project = new TestProject({ tools: ['waits'] });
    const running = project.start(['run', 'waits', '--no-stream']);
    await until(() => project.runIds().length > 0);
    const [run] = project.runIds() as [string];
    await until(() => project.record(run)?.state === 'running');
    const cancelled = await project.envelope(['cancel', run]);
    assert.deepEqual([cancelled.ok, cancelled.data.state], [true, 'cancelled']);
    const { stdout, code } = await running.finished;
    const answers = [{ code, ...JSON.parse(stdout) }];
    for (const args of [
      ['attach', run, '--no-stream'],
      ['wait', run],
    ])
      answers.push(await project.envelope(args));
    for (const answer of answers) {
      assert.deepEqual([answer.ok, answer.code, answer.error.code], [false, 1, 'E_CANCELLED']);
      assert.equal(answer.error.details.state, 'cancelled');
      assert.ok(answer.meta.next.length > 0, JSON.stringify(answer.meta));
    }
    // In the records nothing has failed.
    assert.equal((await project.envelope(['show', run])).data.code, null);
  });

  it('agree also for a workflow and a detached run that were cancelled', async () => {
    using project = new TestProject({ tools: ['waits'] });
    project.write('.acor/workflows/w.yaml', 'name: w\nsteps:\n  - { name: a, tool: waits }\n');
    const { data } = await project.envelope(['workflow', 'run', 'w', '--detach']);
    await until(() => project.record(data.run_id)?.state === 'running');
    await project.envelope(['cancel', data.run_id]);
    const waited = await project.envelope(['wait', data.run_id]);
    assert.deepEqual([waited.code, waited.error.code], [1, 'E_CANCELLED']);
  });

  it("disagree only where --exit-code=tool asks for the tool's own code", async () => {
    using project = new TestProject();
    project.write('tools/none/cli.sh', 'exit 1\n');
    project.write('tools/none/tool.yaml', 'name: none\nadapter: plain\nexit_codes: { ok: 0, ok_none: 1 }\n');
    const plain = await project.envelope(['run', 'none', '--no-stream']);
    assert.deepEqual([plain.ok, plain.code], [true, 0]);
    const tool = await project.envelope(['run', 'none', '--no-stream', '--exit-code=tool']);
    assert.deepEqual([tool.ok, tool.code], [true, 1]);
  });
});
