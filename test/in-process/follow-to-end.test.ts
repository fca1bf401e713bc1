import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { RunWriter } from '../../src/core/ports/run-store.ts';
import { followToEnd } from '../../src/core/run/follow-to-end.ts';
import { stopped } from '../../src/core/run/outcome.ts';
import { enterState } from '../../src/core/run/write-ending.ts';
import { FileRunStore } from '../../src/core/store-files/file-run-store.ts';
import { eventsIn } from '../../src/core/store-files/follow.ts';
import { commandOf } from '../../src/operations/command-forms.ts';
import { newRun } from '../contracts/new-run.ts';
import { endRun } from '../support/end-run.ts';
import { loseRun } from '../support/lose-run.ts';

// Each test is one order of events between a follower and the processes that write the run.
describe('a follower of a run whose supervisor dies', () => {
  let root: string;
  let store: FileRunStore;
  let runId: string;
  let supervisor: RunWriter;
  beforeEach(async () => {
    root = mkdtempSync(join(tmpdir(), 'acor-follow-to-end-'));
    store = new FileRunStore(join(root, '.runs'), commandOf);
    supervisor = await store.create(newRun());
    runId = supervisor.record.run_id;
    enterState(supervisor, 'running');
    await supervisor.update({ state: 'running' });
    await supervisor.log.flush();
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  /** What the follower yields. `step` runs each time after the follower has looked at the lease, with the number of the look. */
  async function follow(step: (look: number) => Promise<void> = async () => {}, since = 0) {
    const { inspect } = store.leases;
    let looks = 0;
    store.leases.inspect = async (id) => {
      const state = await inspect.call(store.leases, id);
      await step(++looks);
      return state;
    };
    const seen: Record<string, unknown>[] = [];
    for await (const lines of followToEnd(store, runId, { since })) seen.push(...eventsIn(lines));
    return seen.map(({ type, code, state, lost }) => ({ type, code, state, lost }));
  }

  const endAs = (writer: RunWriter, code: 'E_RUNNER_LOST' | 'E_DEADLINE') =>
    endRun(writer, stopped(code, 'stopped'));

  const LOST = { type: 'runner_end', code: 'E_RUNNER_LOST', state: 'failed' };

  it('shows the end of a run that another process recovers without end', async () => {
    loseRun(store.root, runId);
    const recoverer = await store.takeOver(runId, () => {}, { recovers: true });
    assert.deepEqual((await follow()).at(-1), { ...LOST, lost: true });
    await recoverer.close();
  });

  it('shows the end that another process writes after the follower has found the run lost', async () => {
    loseRun(store.root, runId);
    const seen = await follow(async (look) => {
      if (look !== 1) return;
      const recoverer = await store.takeOver(runId, () => {}, { recovers: true });
      await endAs(recoverer, 'E_RUNNER_LOST');
      await recoverer.close();
    });
    assert.deepEqual(seen.at(-1), { ...LOST, lost: undefined });
    assert.equal(seen.filter(({ type }) => type === 'runner_end').length, 1);
  });

  it('shows the next attempt when the run was recovered and resumed after the follower has found it lost', async () => {
    loseRun(store.root, runId);
    let resumed: RunWriter | undefined;
    const seen = await follow(async (look) => {
      if (look === 1) {
        const recoverer = await store.takeOver(runId, () => {}, { recovers: true });
        await endAs(recoverer, 'E_RUNNER_LOST');
        await recoverer.close();
        resumed = await store.takeOver(runId);
        enterState(resumed, 'queued', 'resume');
        await resumed.update({ state: 'queued', attempt: 2 });
        enterState(resumed, 'running');
        await resumed.update({ state: 'running' });
        await resumed.log.flush();
      } else if (look === 4) {
        await endAs(resumed!, 'E_DEADLINE');
        await resumed!.close();
      }
    });
    assert.deepEqual(seen.at(-1), { ...LOST, code: 'E_DEADLINE', lost: undefined });
  });

  it('follows on when the lease is renewed after the follower has found the run lost', async () => {
    const { inspect } = store.leases;
    // A supervisor in another PID namespace that was stopped for longer than its lease lasts.
    let looks = 0;
    store.leases.inspect = async (id) => (++looks === 1 ? 'lost' : inspect.call(store.leases, id));
    const seen = await follow(async (look) => {
      if (look !== 4) return;
      await endAs(supervisor, 'E_DEADLINE');
      await supervisor.close();
    });
    assert.deepEqual(seen.at(-1), { ...LOST, code: 'E_DEADLINE', lost: undefined });
  });

  for (const isBehind of [true, false])
    it(`shows no second end for a supervisor that died between the log and the record, ${isBehind ? 'from the start' : 'after the end'}`, async () => {
      supervisor.enterInLedger = async () => {
        throw new Error('killed');
      };
      await endAs(supervisor, 'E_DEADLINE').catch(() => {});
      loseRun(store.root, runId);
      const since = isBehind ? 0 : (await store.extent(runId)).events;
      const ends = (await follow(undefined, since)).filter(({ type }) => type === 'runner_end');
      assert.deepEqual(
        ends.map(({ code }) => code),
        isBehind ? ['E_DEADLINE'] : [],
      );
    });
});
