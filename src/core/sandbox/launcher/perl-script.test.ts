import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { forkServerScript } from './perl-forks.ts';
import { perlScript } from './perl-script.ts';

const PARTS = {
  secrets: 'sub give_secrets',
  reaper: 'stay() if $tool',
  limits: 'prlimit64',
  files: 'sub make_rules',
};

function partsOf(script: string): string[] {
  const { status, stderr } = spawnSync('perl', ['-c', '-'], { input: script, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return Object.entries(PARTS).flatMap(([name, text]) => (script.includes(text) ? name : []));
}

describe('the script of a launcher', () => {
  it('has only the parts that its orders need, because a sandbox waits until Perl has compiled it', () => {
    assert.deepEqual(partsOf(perlScript('x64', { stays: 'init' })), ['limits', 'files']);
    assert.deepEqual(partsOf(perlScript('x64', { stays: 'init', secrets: '/s' })), [
      'secrets',
      'limits',
      'files',
    ]);
    assert.deepEqual(partsOf(perlScript('arm64', { stays: 'reaper' })), ['reaper', 'limits', 'files']);
    assert.deepEqual(partsOf(perlScript('x64', { isBare: true })), ['limits']);
  });

  it('has all of them for orders of any kind', () => {
    assert.deepEqual(partsOf(forkServerScript('x64')), Object.keys(PARTS));
  });
});
