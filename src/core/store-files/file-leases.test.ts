import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { AcorError } from '../../protocol/acor-error.ts';
import { newRunId } from '../../util/ids.ts';
import { FileLease, FileLeases, HeldByAnother, leasesFolder } from './file-leases.ts';

describe('the leases of many runs at once', () => {
  let root: string;
  let leases: FileLeases;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'acor-leases-'));
    leases = new FileLeases(root);
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  it('are taken, but for those that another process holds, and fence those of earlier epochs', async () => {
    const [free, held, superseded] = [newRunId(), newRunId(), newRunId()];
    const other = await leases.acquire(held, 2);
    const earlier = await leases.acquire(superseded, 1);
    const taken = leases.acquireAll([free, held, superseded].map((runId) => ({ runId, epoch: 2 })));
    const errors = [...taken].filter(([, lease]) => lease instanceof AcorError);
    assert.deepEqual(
      errors.map(([runId]) => runId),
      [held],
    );
    assert.ok(errors[0]![1] instanceof HeldByAnother);
    assert.deepEqual([earlier.isHeld(), other.isHeld()], [false, true]);
    const states = await Promise.all([free, held, superseded].map((runId) => leases.inspect(runId)));
    assert.deepEqual(states, ['recovering', 'live', 'recovering']);
    await assert.rejects(leases.acquire(free, 2), HeldByAnother);
    for (const lease of [...taken.values(), other]) if (lease instanceof FileLease) await lease.release();
    assert.deepEqual(readdirSync(leasesFolder(root)), []);
  });

  it('are released each for itself', async () => {
    const runIds = [newRunId(), newRunId()];
    const [first, second] = [...leases.acquireAll(runIds.map((runId) => ({ runId, epoch: 1 }))).values()];
    assert.ok(first instanceof FileLease && second instanceof FileLease);
    await first.release();
    assert.deepEqual(
      [await leases.inspect(runIds[0]!), await leases.inspect(runIds[1]!)],
      ['none', 'recovering'],
    );
    await second.release();
  });

  it('are errors of the disk, each one, where there is no folder for them, and so is a single one', async () => {
    writeFileSync(leasesFolder(root), '');
    const runIds = [newRunId(), newRunId()];
    const taken = leases.acquireAll(runIds.map((runId) => ({ runId, epoch: 1 })));
    assert.deepEqual(
      [...taken].map(([runId, lease]) => [
        runId,
        lease instanceof AcorError && !(lease instanceof HeldByAnother),
      ]),
      runIds.map((runId) => [runId, true]),
    );
    await assert.rejects(leases.acquire(runIds[0]!, 2), {
      code: 'E_STORAGE',
      message: /^cannot claim the run: .*leases/,
    });
  });
});
