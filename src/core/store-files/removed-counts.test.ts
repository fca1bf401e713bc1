import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { newRun } from '../../../test/contracts/new-run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { keepCounts, removedCounts } from './removed-counts.ts';

const root = mkdtempSync(join(tmpdir(), 'acor-removed-counts-'));
after(() => rmSync(root, { recursive: true }));

describe('the counts of removed runs', () => {
  it('have each run once: not while it exists, nor twice after a removal that was killed and repeated', async () => {
    const recordOf = (run_id: string) =>
      ({
        ...newRun(),
        run_id,
        tool: 't',
        state: 'failed',
        ended_at: '2026-01-02T03:04:05.678Z',
      }) as RunRecord;
    const existing = new Set(['r-1', 'r-2', 'r-3']);
    const exists = (runId: string) => existing.has(runId);
    const runs = () => removedCounts(root, exists).map((count) => count.runs);
    await keepCounts(root, [recordOf('r-1'), recordOf('r-2')], exists);
    assert.deepEqual(runs(), []);
    existing.delete('r-1');
    assert.deepEqual(runs(), [1]);
    // The removal of the second was killed; it is removed again, beside another one.
    await keepCounts(root, [recordOf('r-2'), recordOf('r-3')], exists);
    assert.deepEqual(runs(), [1]);
    existing.clear();
    assert.deepEqual(runs(), [3]);
    await keepCounts(root, [recordOf('r-4')], exists);
    assert.deepEqual(runs(), [4]);
  });
});
