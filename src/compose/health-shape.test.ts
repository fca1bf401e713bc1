import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { overall } from './health-shape.ts';

describe('health', () => {
  it('is as good as its worst check', () => {
    assert.equal(overall([]), 'ready');
    assert.equal(overall([{ status: 'ok' }]), 'ready');
    assert.equal(overall([{ status: 'ok' }, { status: 'degraded' }]), 'degraded');
    assert.equal(overall([{ status: 'degraded' }, { status: 'blocked' }, { status: 'ok' }]), 'blocked');
  });
});
