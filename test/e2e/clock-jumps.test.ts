import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import { Acor, type RunEvent } from '../../src/index.ts';
import { newRunId } from '../../src/util/ids.ts';
import { identify, isRunning } from '../../src/util/process-table.ts';
import { processesOf, TestProject, WITHOUT_SANDBOX } from '../support/project.ts';

const HOUR_MS = 3_600_000;
const RealDate = Date;

/** The clock of this process, which supervises the runs of the library; the machine's own is left alone. */
class MovedDate extends RealDate {
  static byMs = 0;

  constructor(...given: unknown[]) {
    if (given.length === 0) super(MovedDate.now());
    else super(...(given as [number]));
  }

  static override now(): number {
    return RealDate.now() + MovedDate.byMs;
  }
}

describe('a clock that jumps', () => {
  let project: TestProject;
  before(() => {
    project = new TestProject({ tools: ['holds', 'silent', 'waits', 'quick'], config: WITHOUT_SANDBOX });
    globalThis.Date = MovedDate as unknown as DateConstructor;
  });
  after(() => {
    globalThis.Date = RealDate;
    project[Symbol.dispose]();
  });
  afterEach(() => {
    MovedDate.byMs = 0;
  });

  it('an hour forwards and two back ends no run too early, and does not change its duration', async () => {
    const acor = new Acor({ cwd: project.root, env: project.environment() });
    const jumpsMs = [HOUR_MS, -HOUR_MS, 3 * HOUR_MS];
    const begunMs = performance.now();
    const run = acor.run('holds', [project.path('go')], { timeoutS: 900 });
    const events: RunEvent[] = [];
    for await (const event of run) {
      events.push(event);
      if (event.type !== 'heartbeat') continue;
      // On a busy machine this reader is behind: the next jump waits for an event that was stored after the last one.
      if (Math.abs(RealDate.parse(event.ts) - MovedDate.now()) > HOUR_MS / 2) continue;
      const jumpMs = jumpsMs.shift();
      if (jumpMs === undefined) project.write('go', '');
      else MovedDate.byMs = jumpMs;
    }
    const summary = await run;
    const tookS = (performance.now() - begunMs) / 1000;
    assert.deepEqual([summary.state, summary.code, summary.survivors], ['completed', null, []]);
    assert.ok(summary.duration_s > 0 && summary.duration_s <= tookS, `${summary.duration_s} of ${tookS} s`);
    assert.deepEqual(
      events.map(({ seq }) => seq),
      events.map((_, index) => index + 1),
    );
    // A guard that looked at the clock of the wall would have ended it: the deadline is 900 s, the grace 90 s.
    const times = events.map(({ ts }) => RealDate.parse(String(ts)));
    const stepsMs = times.slice(1).map((time, index) => time - times[index]!);
    assert.ok(Math.max(...stepsMs) > 900_000, 'the clock has jumped forwards');
    assert.ok(Math.min(...stepsMs) < -900_000, 'the clock has jumped back');
    assert.equal((await project.envelope(['verify', summary.run_id])).code, 0);
  });

  for (const [what, tool, config, options, code] of [
    ['the deadline', 'waits', {}, { timeoutS: 0.6 }, 'E_DEADLINE'],
    ['the grace', 'silent', { 'environment.heartbeat_grace_s': 0.6 }, {}, 'E_HEARTBEAT_MISSED'],
  ] as const) {
    it(`an hour back does not put off ${what}`, async () => {
      const acor = new Acor({ cwd: project.root, env: project.environment(), config });
      const run = acor.run(tool, [], { retries: 0, ...options });
      for await (const event of run) {
        if (event.type !== 'runner_state') continue;
        MovedDate.byMs = -HOUR_MS;
        break;
      }
      const summary = await run;
      assert.equal(summary.code, code);
      assert.deepEqual(processesOf(summary.run_id), []);
    });
  }

  it('does not change the identity of a process, nor lose a run', async () => {
    const identity = identify(process.pid);
    const acor = new Acor({ cwd: project.root, env: project.environment() });
    const run = acor.run('holds', [project.path('never')]);
    const runId = await run.runId;
    for await (const event of run) if (event.type === 'heartbeat') break;
    for (const byMs of [HOUR_MS, -HOUR_MS]) {
      MovedDate.byMs = byMs;
      assert.deepEqual(identify(process.pid), identity);
      assert.ok(isRunning(identity));
      assert.equal((await project.envelope(['show', runId])).data.state, 'running');
    }
    // The same process with another start is another process.
    assert.equal(isRunning({ ...identity, start_time: identity.start_time! + 1 }), false);
    await run.cancel();
    assert.equal((await run).state, 'cancelled');
  });

  it('never creates the same id twice, though ids after a backward jump sort before earlier ones', async () => {
    const now = newRunId();
    MovedDate.byMs = -HOUR_MS;
    const ids = Array.from({ length: 20_000 }, () => newRunId());
    assert.ok(ids.every((id) => id < now));
    assert.equal(new Set(ids).size, ids.length);
    const acor = new Acor({ cwd: project.root, env: project.environment() });
    const earlier = await acor.run('quick');
    MovedDate.byMs = 0;
    const later = await acor.run('quick');
    assert.ok(earlier.run_id < later.run_id);
    assert.equal((await project.envelope(['verify'])).code, 0);
  });
});
