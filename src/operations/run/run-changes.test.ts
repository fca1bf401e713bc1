import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { newRun } from '../../../test/contracts/new-run.ts';
import { endRun } from '../../../test/support/end-run.ts';
import { completed } from '../../core/run/outcome.ts';
import { FileRunStore } from '../../core/store-files/file-run-store.ts';
import { RunsNow } from './run-changes.ts';

const root = mkdtempSync(join(tmpdir(), 'acor-run-changes-'));
after(() => rmSync(root, { recursive: true }));

describe('the changes of runs', () => {
  it('have the end of a run once, also when it ends during a look', async () => {
    const store = new FileRunStore(root, () => '');
    const run = newRun();
    const writer = await store.create(run);
    await writer.update({ state: 'running' });
    const { cursor } = await RunsNow.take(store);
    const ids = async (now: Promise<RunsNow>, since: string) =>
      (await (await now).since(since)).runs.map(({ run_id, state }) => [run_id, state]);

    let hasEnded = false;
    const ending = new Proxy(store, {
      get(target, key) {
        if (key === 'extent')
          return async (runId: string) => {
            const extent = await store.extent(runId);
            if (!hasEnded) {
              hasEnded = true;
              await endRun(writer, completed());
            }
            return extent;
          };
        const value = Reflect.get(target, key, target);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    const during = RunsNow.take(ending);
    assert.deepEqual(await ids(during, cursor), [[run.run_id, 'completed']]);
    await writer.close();
    assert.deepEqual(await ids(RunsNow.take(store), (await during).cursor), []);
  });
});
