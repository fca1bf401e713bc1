import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parseLines, processesOf, type Running, readRun, until } from '../support/project.ts';
import { watchdogsOf } from '../support/watchdogs.ts';
import { Lane } from './lane.ts';

const hasPython = spawnSync('sh', ['-c', 'command -v python3']).status === 0;
const isPossible = process.platform === 'linux' && hasPython;

/** Failures that the kill campaign found once, reproduced deterministically. */
describe('after a kill', isPossible ? {} : { skip: 'needs Linux and python3' }, () => {
  let lane: Lane;
  before(() => {
    lane = new Lane();
  });
  after(() => lane[Symbol.dispose]());

  /** Starts a run that waits for the answer to its second question, with the first one answered. */
  async function waitingRun(name: string): Promise<{ runId: string; record: string }> {
    const record = lane.path('records', name);
    mkdirSync(record, { recursive: true });
    const args = ['--record', record, '--asks', '1,2', '--steps', '2', '--answer', 'way-1=left'];
    const { data } = await lane.envelope(['run', '--detach', 'campaign_python_apart', ...args]);
    const runId = data.run_id as string;
    await until(() => lane.record(runId)?.state === 'waiting_ai');
    return { runId, record };
  }

  async function killSupervisor(runId: string): Promise<void> {
    await lane.killSupervisor(runId);
    await until(() => processesOf(runId).length === 0);
  }

  async function assertShownLoss(follower: Running): Promise<void> {
    const last = parseLines((await follower.finished).stdout).at(-1)!;
    assert.deepEqual([last.type, last.code], ['runner_end', 'E_RUNNER_LOST']);
  }

  it('every follower gets the end of the run, whatever its command', async () => {
    const { runId } = await waitingRun('followed');
    const followers = [
      lane.start(['logs', runId, '--follow']),
      lane.start(['logs', runId, '--follow', '--type', 'runner_end']),
    ];
    await followers[0]!.event('action_required');
    await killSupervisor(runId);
    for (const follower of followers) await assertShownLoss(follower);
    // A follower that starts later gets it, too.
    await assertShownLoss(lane.start(['attach', runId, '--since', '3']));
    // What followers report is not in the log: only recovery writes.
    assert.deepEqual(
      lane.events(runId).filter(({ type }) => type === 'runner_end'),
      [],
    );
  });

  it('an acknowledged answer reaches the tool, also when it was not in the log yet', async () => {
    const { runId, record } = await waitingRun('answered');
    await killSupervisor(runId);
    rmSync(join(lane.runsDir, runId, 'control', 'tool', 'answers', 'way-1.json'));
    const resumed = readRun(await lane.acor(['resume', runId, '--answer', 'way-2=up']));
    assert.equal(resumed.end.state, 'completed', resumed.stdout);
    assert.match(readFileSync(join(record, 'journal'), 'utf8'), /^2 answer 1 left$/m);
  });

  it('an answer from before a retry does not come back', async () => {
    const { runId, record } = await waitingRun('retried');
    await lane.envelope(['cancel', runId]);
    rmSync(join(record, 'step-1'));
    const retried = await lane.acor(['retry', runId]);
    assert.equal(parseLines(retried.stdout).at(-1)!.action_id, 'way-1', retried.stdout);
    await killSupervisor(runId);
    const resumed = await lane.acor(['resume', runId]);
    assert.equal(parseLines(resumed.stdout).at(-1)!.action_id, 'way-1', resumed.stdout);
    await lane.envelope(['cancel', runId]);
  });

  it('a late watchdog does not kill the next attempt', async () => {
    const { runId } = await waitingRun('watched');
    const [watchdog] = watchdogsOf(runId);
    process.kill(watchdog!, 'SIGSTOP');
    await lane.killSupervisor(runId);
    const asked = await lane.acor(['resume', runId]);
    assert.equal(asked.code, 2, asked.stdout);
    // If it is still alive, it now continues its work.
    if (watchdogsOf(runId).includes(watchdog!)) process.kill(watchdog!, 'SIGCONT');
    await lane.envelope(['answer', runId, 'way-2', '--choice', 'up']);
    assert.equal((await lane.envelope(['wait', runId, '--until', 'ending'])).data.state, 'completed');
  });

  it('the folder of a run that never began is not a problem of the store', async () => {
    mkdirSync(join(lane.runsDir, 'r-1m7z00000never00', 'control'), { recursive: true });
    const { ok, error } = await lane.envelope(['verify']);
    assert.equal(ok, true, error?.message);
  });
});
