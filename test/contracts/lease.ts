import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Leases } from '../../src/core/ports/lease.ts';
import { newRunId } from '../../src/util/ids.ts';

/** Leases as other processes see them. */
export interface LeaseRig {
  open(): Leases;
  /** The owner of a run's lease dies without a word. */
  lose(runId: string): void;
}

/** What every implementation of leases must hold to. */
export function leaseContract(name: string, { open, lose }: LeaseRig): void {
  describe(`the leases '${name}'`, () => {
    it('are live from their acquisition to their release', async () => {
      const runId = newRunId();
      assert.equal(await open().inspect(runId), 'none');
      const lease = await open().acquire(runId, 1);
      assert.equal(await open().inspect(runId), 'live');
      assert.equal(await lease.renew(), true);
      await lease.release();
      assert.equal(await open().inspect(runId), 'none');
      assert.equal(await lease.renew(), false);
    });

    it('are acquired for an epoch by one of several processes', async () => {
      const runId = newRunId();
      const wanted = await Promise.allSettled(Array.from({ length: 8 }, () => open().acquire(runId, 1)));
      assert.equal(wanted.filter(({ status }) => status === 'fulfilled').length, 1);
      for (const each of wanted)
        if (each.status === 'rejected') assert.equal(each.reason.code, 'E_STORAGE');
        else await each.value.release();
    });

    it('are lost when their owner has died, and when it has abandoned them', async () => {
      const [dead, abandoned] = [newRunId(), newRunId()];
      const leases = [await open().acquire(dead, 1), await open().acquire(abandoned, 1)];
      lose(dead);
      await leases[1]!.abandon();
      assert.equal(await open().inspect(dead), 'lost');
      assert.equal(await open().inspect(abandoned), 'lost');
      for (const runId of [dead, abandoned]) await open().forget(runId);
      assert.equal(await open().inspect(dead), 'none');
      await leases[0]!.release();
    });

    it('of an earlier epoch end with the next one, and their owner has no effect any more', async () => {
      const runId = newRunId();
      const first = await open().acquire(runId, 1);
      const second = await open().acquire(runId, 2, {
        mayTake: async () => assert.equal(await first.renew(), true),
      });
      assert.equal(await first.renew(), false);
      await first.abandon();
      await first.release();
      assert.equal(await second.renew(), true);
      assert.partialDeepStrictEqual(await open().newest(runId), { runId, epoch: 2, state: 'live' });
      assert.deepEqual([await open().isHeld(runId, 1), await open().isHeld(runId, 2)], [false, true]);
      await second.release();
      assert.equal(await open().isHeld(runId, 2), false);
    });

    it('stay with their owner when another process may not take the next epoch', async () => {
      const runId = newRunId();
      const first = await open().acquire(runId, 1);
      const mayTake = async () => {
        throw new Error('not this one');
      };
      await assert.rejects(open().acquire(runId, 2, { mayTake }), /not this one/);
      assert.equal(await first.renew(), true);
      assert.partialDeepStrictEqual(await open().newest(runId), { runId, epoch: 1, state: 'live' });
      await first.release();
    });

    it('report when a process holds them only to end a lost run', async () => {
      const runId = newRunId();
      const lease = await open().acquire(runId, 1, { recovers: true });
      assert.equal(await open().inspect(runId), 'recovering');
      await lease.release();
    });

    it('are listed by their newest epoch, including lost ones', async () => {
      const [live, lost] = [newRunId(), newRunId()];
      const leases = [await open().acquire(live, 3), await open().acquire(lost, 1)];
      lose(lost);
      const listed = (await open().list()).filter(({ runId }) => runId === live || runId === lost);
      assert.deepEqual(
        listed.sort((a, b) => b.epoch - a.epoch).map(({ runId, epoch, state }) => ({ runId, epoch, state })),
        [
          { runId: live, epoch: 3, state: 'live' },
          { runId: lost, epoch: 1, state: 'lost' },
        ],
      );
      for (const { renewedMs } of listed) assert.ok(Math.abs(Date.now() - renewedMs) < 3_600_000);
      for (const lease of leases) await lease.release();
    });

    it('are never removed while they are live', async () => {
      const runId = newRunId();
      const lease = await open().acquire(runId, 1);
      await open().forget(runId);
      assert.equal(await lease.renew(), true);
      await lease.release();
    });
  });
}
