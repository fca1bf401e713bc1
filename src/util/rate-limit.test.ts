import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { rateLimit } from './rate-limit.ts';

describe('a rate limit', () => {
  it('allows its burst at once, and then nothing until time has passed', () => {
    // Of a burst of three, the next is allowed after a quarter of an hour.
    const limit = rateLimit({ perSecond: 0.001, burst: 3 });
    const allowed = Array.from({ length: 5 }, () => limit.tryRemoveTokens(1));
    assert.deepEqual(allowed, [true, true, true, false, false]);
  });
});
