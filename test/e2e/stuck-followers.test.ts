import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { reachedInTime } from '../support/in-time.ts';
import {
  type Event,
  parseLines,
  processesOf,
  type Running,
  TestProject,
  until,
  WITHOUT_SANDBOX,
} from '../support/project.ts';

/** More than a pipe and every buffer on the way hold. */
const LINES = 60_000;
const WRITE_LINES = `seq -f '%0100.0f' ${LINES}`;

describe('a follower that stops reading', () => {
  let project: TestProject;
  before(() => {
    project = new TestProject({ tools: ['does'], config: WITHOUT_SANDBOX });
  });
  after(() => project[Symbol.dispose]());

  const logOf = (runId: string) => readFileSync(join(project.runsDir, runId, 'events.jsonl'), 'utf8');

  /** Lets a follower read on, and checks that it gets everything, byte for byte. */
  async function assertGetsTheRest(follower: Running, runId: string): Promise<void> {
    assert.equal(follower.child.exitCode, null);
    follower.child.stdout!.resume();
    const { stdout } = await follower.finished;
    assert.ok(stdout === logOf(runId), 'what it got is what was stored');
    const events = parseLines(stdout);
    assert.ok(events.every(({ seq }, index) => seq === index + 1));
    assert.equal(events.at(-1)!.type, 'runner_end');
  }

  it('delays neither the guards nor the end of a run that it started', async () => {
    const { running, runId } = await reachedInTime(async (limitS) => {
      const running = project.start([
        'run',
        '--timeout',
        `${3 * limitS}`,
        'does',
        `${WRITE_LINES}; sleep 605`,
      ]);
      const runId = String((await running.event('runner_start')).run_id);
      running.child.stdout!.pause();
      await until(() => project.record(runId)!.state === 'failed');
      assert.deepEqual(processesOf(runId), []);
      const { type, code, survivors } = project.events(runId).at(-1)!;
      assert.deepEqual([type, code, survivors], ['runner_end', 'E_DEADLINE', []]);
      if (linesIn(project.events(runId)) === LINES) return { running, runId };
      running.child.kill('SIGKILL');
      return undefined;
    });
    assert.equal((await project.envelope(['verify', runId])).code, 0);
    await assertGetsTheRest(running, runId);
  });

  it('does not affect the run or other followers, and gets every event when it reads on', async () => {
    const gate = project.path('go');
    const script = `until [ -e '${gate}' ]; do sleep 0.05; done; ${WRITE_LINES}`;
    const running = project.start(['run', 'does', script]);
    const runId = String((await running.event('start')).run_id);
    const stuck = [1, 2].map(() => project.start(['logs', runId, '--follow']));
    for (const follower of stuck) {
      await follower.event('start');
      follower.child.stdout!.pause();
    }
    project.write('go', '');
    const { stdout, code } = await running.finished;
    assert.equal(code, 0);
    assert.equal(stdout, logOf(runId));
    assert.equal(project.record(runId)!.state, 'completed');
    for (const follower of stuck) await assertGetsTheRest(follower, runId);
  });

  it('and is killed then does not change the run', async () => {
    const gate = project.path('go-2');
    const script = `until [ -e '${gate}' ]; do sleep 0.05; done; ${WRITE_LINES}`;
    const running = project.start(['run', 'does', script]);
    const runId = String((await running.event('start')).run_id);
    const follower = project.start(['logs', runId, '--follow']);
    await follower.event('start');
    follower.child.stdout!.pause();
    project.write('go-2', '');
    await until(() => linesIn(project.events(runId)) > LINES / 2);
    follower.child.kill('SIGKILL');
    assert.equal((await running.finished).code, 0);
    assert.equal((await project.envelope(['verify', runId])).code, 0);
  });
});

function linesIn(events: readonly Event[]): number {
  return events.flatMap(({ type, line }) => (type === 'diagnostic' ? String(line).split('\n') : [])).length;
}
