import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { SupervisorWatch } from '../../src/core/run/supervisor-watch.ts';
import { FileRunStore } from '../../src/core/store-files/file-run-store.ts';
import { commandOf } from '../../src/operations/command-forms.ts';
import type { AcorError } from '../../src/protocol/acor-error.ts';
import { isRunning } from '../../src/util/process-table.ts';
import { reachedInTime } from '../support/in-time.ts';
import { processesOf, TestProject, until, WITHOUT_SANDBOX } from '../support/project.ts';

const isLinux = process.platform === 'linux';

describe('a run whose supervisor is stopped', { skip: !isLinux && 'finds processes in /proc' }, () => {
  for (const [words, config] of [
    ['without a sandbox', WITHOUT_SANDBOX],
    ['in the sandbox', undefined],
  ] as const)
    it(`loses its tool ${words} after both grace periods of a cancel, and ends as cancelled when it goes on`, async () => {
      using project = new TestProject({ tools: ['ignores_term'], ...(config && { config }) });
      const { runId, supervisor } = (await startStopped(project, ['--timeout', '600']))!;
      const cancel = project.start(['cancel', runId]);
      await until(() => processesOf(runId).length === 0);
      assert.equal(project.record(runId)?.state, 'running');
      process.kill(supervisor, 'SIGCONT');
      const { code, stdout } = await cancel.finished;
      assert.equal(code, 0, stdout);
      assert.equal(JSON.parse(stdout).data.state, 'cancelled');
    });

  it('is reported to a process that waits for it, with its process and the fix', async () => {
    using project = new TestProject({ tools: ['ignores_term'] });
    const { runId, supervisor } = (await startStopped(project, ['--timeout', '600']))!;
    const watch = new SupervisorWatch(new FileRunStore(project.runsDir, commandOf), runId, 1000);
    const untilGone = async () => {
      while (!(await watch.isGone())) await new Promise((resolve) => setTimeout(resolve, 5));
    };
    await assert.rejects(untilGone(), ({ code, message, hint }: AcorError) => {
      assert.equal(code, 'E_RUNNER_LOST');
      assert.match(message, /has not reacted for 1 s/);
      assert.match(hint ?? '', new RegExp(`kill -CONT ${supervisor}`));
      return true;
    });
    await project.killSupervisor(runId);
    assert.equal(await watch.isGone(), true);
    await until(() => processesOf(runId).length === 0);
  });

  it('loses its tool at the deadline, and reports the deadline when it goes on', async () => {
    using project = new TestProject({ tools: ['ignores_term'] });
    const { runId, supervisor } = await reachedInTime((limitS) =>
      startStopped(project, ['--timeout', `${limitS}`]),
    );
    await until(() => processesOf(runId).length === 0);
    process.kill(supervisor, 'SIGCONT');
    await project.acor(['wait', runId]);
    const { data } = await project.envelope(['show', runId]);
    assert.equal(data.code, 'E_DEADLINE', JSON.stringify(data));
  });
});

/** Starts a run whose tool heeds no request, and stops its supervisor once the tool is at work; undefined when the run ended before. */
async function startStopped(project: TestProject, flags: string[]) {
  const { data } = await project.envelope(['run', 'ignores_term', '--detach', ...flags]);
  const runId = String(data.run_id);
  const has = (wanted: string) => project.events(runId).some(({ type }) => type === wanted);
  await until(() => has('start') || has('runner_end'));
  const { supervisor: owner, pid: supervisor } = project.record(runId)!;
  if (!isRunning(owner)) return undefined;
  process.kill(supervisor, 'SIGSTOP');
  if (!has('runner_end')) return { runId, supervisor };
  process.kill(supervisor, 'SIGCONT');
  return undefined;
}
