import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseDurationS } from './input-types.ts';

describe('a duration', () => {
  it('is read in seconds', () => {
    const texts = ['90', '90s', '5m', '1h', '2d', '250ms', '1.5m', ' 3s '];
    assert.deepEqual(texts.map(parseDurationS), [90, 90, 300, 3600, 172_800, 0.25, 90, 3]);
  });

  it('is refused when it has no unit that is known, a sign, or no number', () => {
    for (const text of ['', 's', '-5s', '5 minutes', '5mm', '1h30m', '1e3', 'NaN', 'Infinity']) {
      assert.equal(parseDurationS(text), undefined, text);
    }
  });
});
