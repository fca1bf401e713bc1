import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { newRun } from '../../../test/contracts/new-run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import { keepCosts, removedCosts } from './removed-costs.ts';

const root = mkdtempSync(join(tmpdir(), 'acor-removed-'));
after(() => rmSync(root, { recursive: true }));

describe('the costs of removed runs', () => {
  it('count once: not while the run exists, nor twice after a removal that was killed and repeated', () => {
    const record = {
      ...newRun(),
      ended_at: '2026-01-02T03:04:05.678Z',
      cost_usd: 0.5,
    } as unknown as RunRecord;
    keepCosts(root, [record]);
    keepCosts(root, [record]);
    const none = () => false;
    assert.deepEqual(
      removedCosts(root, (runId) => runId === record.run_id),
      [],
    );
    assert.deepEqual(
      removedCosts(root, none, '2026-01-02').map(({ runs, cost_usd }) => [runs, cost_usd]),
      [[1, 0.5]],
    );
    appendFileSync(join(root, 'removed-costs', '2026-01-02.jsonl'), '{"run_id":"r-cut","cost_u');
    assert.equal(removedCosts(root, none).length, 1);
  });

  it('make no folder for runs that cost nothing', () => {
    const free = mkdtempSync(join(tmpdir(), 'acor-removed-'));
    keepCosts(free, [{ ...newRun(), ended_at: '2026-01-02T03:04:05.678Z' } as unknown as RunRecord]);
    assert.deepEqual(readdirSync(free), []);
    rmSync(free, { recursive: true });
  });
});
