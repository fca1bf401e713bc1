import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { EnteredRuns } from './entered-runs.ts';

const hash = (text: string) => createHash('sha256').update(text).digest('hex');

describe('the ends of runs in a ledger', () => {
  it('are found by run, in the order of the ledger', () => {
    const runs = new EnteredRuns();
    const entered: Record<string, object[]> = {};
    for (let line = 1; line <= 3_000; line++) {
      const runId = `r-${line % 1_000}`;
      const end = { path: `/ledger/${line >> 9}`, line, events: line * 2 ** 33, sha256: hash(String(line)) };
      entered[runId] = [...(entered[runId] ?? []), end];
      runs.add(runId, end);
    }
    assert.equal(runs.size, 1_000);
    for (const [runId, ends] of Object.entries(entered)) assert.deepEqual(runs.get(runId), ends);
    assert.deepEqual([...runs.keys()].sort(), Object.keys(entered).sort());
  });

  it('keep what a changed line has in place of a hash or a number', () => {
    const runs = new EnteredRuns();
    const changed = { path: '/ledger', line: 1, events: Number.NaN, sha256: 'undefined' };
    runs.add('r-1', changed);
    runs.add('r-1', { ...changed, line: 2, events: 1.5, sha256: hash('x').toUpperCase() });
    assert.deepEqual(runs.get('r-1'), [
      changed,
      { ...changed, line: 2, events: 1.5, sha256: hash('x').toUpperCase() },
    ]);
  });

  it('of a run are gone once it was deleted, and no other', () => {
    const runs = new EnteredRuns();
    const end = { path: '/ledger', line: 1, events: 1, sha256: hash('') };
    runs.add('r-1', end);
    runs.add('r-2', end);
    runs.delete('r-1');
    assert.deepEqual([runs.has('r-1'), runs.get('r-1'), runs.get('r-2')], [false, undefined, [end]]);
    assert.equal(runs.get('r-3'), undefined);
  });
});
