import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startFailure } from './not-started.ts';

const MISSING = "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x'";

describe('startFailure', () => {
  it('names why no call reached the program', () => {
    const calls = [{ stdout: '', stderr: `node:internal:1\n${MISSING}\n    at x`, rc: 1 }];
    assert.equal(startFailure(calls), MISSING);
    assert.equal(startFailure([{ stdout: '', stderr: '', rc: 127 }]), 'it exits with 127');
  });

  it('takes a program that answered one call, or fails by itself, for started', () => {
    const failed = { stdout: '', stderr: MISSING, rc: 1 };
    assert.equal(startFailure([failed, { stdout: 'usage', stderr: '', rc: 0 }]), undefined);
    assert.equal(startFailure([{ stdout: '', stderr: 'wrong option', rc: 1 }]), undefined);
  });
});
