import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { newRun } from '../../../test/contracts/new-run.ts';
import { commandOf } from '../../operations/command-forms.ts';
import { newRunId } from '../../util/ids.ts';
import type { NewRun } from '../ports/run-store.ts';
import { withClaimed } from './claim-runs.ts';
import { FileLeases } from './file-leases.ts';
import { FileRunStore } from './file-run-store.ts';

describe('runs that are claimed to be removed or packed', () => {
  let root: string;
  let store: FileRunStore;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'acor-claims-'));
    store = new FileRunStore(root, commandOf);
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  async function endedRun(parent: NewRun['parent'] = null): Promise<string> {
    const writer = await store.create({ ...newRun(), parent });
    await writer.update({ state: 'completed', ended_at: new Date().toISOString() }, { durable: true });
    await writer.close();
    return writer.record.run_id;
  }

  /** The claimed ones of two runs, when another process does `meanwhile` with the first after it was found and before it is claimed. */
  async function claimed(meanwhile: (runId: string) => void): Promise<string[]> {
    const runIds = [await endedRun(), await endedRun()];
    const { leases } = store;
    const acquireAll = leases.acquireAll.bind(leases);
    leases.acquireAll = (claims) => {
      meanwhile(runIds[0]!);
      return acquireAll(claims);
    };
    const taken = await withClaimed(store, runIds, 'remove', async (runs) =>
      runs.map(({ record }) => runIds.indexOf(record.run_id)),
    );
    return taken.map((index) => ['first', 'second'][index]!);
  }

  it('are all that no other process touches', async () => {
    assert.deepEqual(await claimed(() => {}), ['first', 'second']);
  });

  it('are without one that another process resumes meanwhile', async () => {
    const resumed = (runId: string) => new FileLeases(root).acquireAll([{ runId, epoch: 2 }]);
    assert.deepEqual(await claimed(resumed), ['second']);
  });

  it('are without one that another process resumed and ended meanwhile', async () => {
    const ended = (runId: string) => {
      const path = join(store.layout(runId).dir, 'metadata.json');
      writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), epoch: 2 }));
    };
    assert.deepEqual(await claimed(ended), ['second']);
  });

  it('are steps of a removed workflow at the cost of one look for it each, and not of a search for the reason', async () => {
    const parent = { run_id: newRunId(), task_id: 'one' };
    const steps = [await endedRun(parent), await endedRun(parent)];
    let listings = 0;
    const listNow = store.listNow.bind(store);
    store.listNow = () => {
      listings++;
      return listNow();
    };
    const taken = await withClaimed(store, steps, 'remove', async (runs) => runs.length);
    assert.deepEqual([taken, listings], [2, 0]);
    // What a search costs: it lists the store for names that are near.
    assert.throws(() => store.readNow(parent.run_id));
    assert.equal(listings, 1);
  });
});
