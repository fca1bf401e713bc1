import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { newRunId } from './ids.ts';

describe('run ids', () => {
  it('sort by time', () => {
    const times = [0, 1, 31, 32, 1_700_000_000_000, 1_700_000_000_001, Date.now(), 4_000_000_000_000];
    const ids = times.map((time) => newRunId(time));
    assert.deepEqual([...ids].sort(), ids);
  });

  it('differ within a millisecond', () => {
    assert.equal(new Set(Array.from({ length: 500 }, () => newRunId(1))).size, 500);
  });
});
