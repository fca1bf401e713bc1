import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { compareVersions, SEMVER, withinRange } from './semver.ts';

describe('versions', () => {
  it('come in the order of semver 2.0.0 §11', () => {
    const ordered = [
      '0.9.9',
      '1.0.0-alpha',
      '1.0.0-alpha.1',
      '1.0.0-alpha.beta',
      '1.0.0-beta',
      '1.0.0-beta.2',
      '1.0.0-beta.11',
      '1.0.0-rc.1',
      '1.0.0',
      '1.2.0',
      '1.10.0',
      '2.0.0',
    ];
    for (const [i, a] of ordered.entries()) {
      for (const [j, b] of ordered.entries())
        assert.equal(Math.sign(compareVersions(a, b)), Math.sign(i - j), `${a} ${b}`);
    }
  });

  it('are equal when only their builds differ', () => {
    assert.equal(compareVersions('1.0.0+a', '1.0.0+b'), 0);
  });

  it('are refused when they are no versions', () => {
    for (const text of ['1', '1.0', 'v1.0.0', '01.0.0', '1.0.0-', '1.0.0 ', '1.0.0.0'])
      assert.ok(!SEMVER.test(text), text);
    assert.ok(SEMVER.test('1.0.0-rc.1+build.5'));
  });
});

describe('a range of versions', () => {
  it('is what is at least as new, or what promises the same', () => {
    for (const [version, range, isIn] of [
      ['1.2.3', '>=1.2.3', true],
      ['2.0.0', '>=1.2.3', true],
      ['1.2.3-rc.1', '>=1.2.3', false],
      ['1.9.0', '^1.2.3', true],
      ['2.0.0', '^1.2.3', false],
      ['1.2.2', '^1.2.3', false],
      ['0.1.9', '^0.1.0', true],
      ['0.2.0', '^0.1.0', false],
    ] as const)
      assert.equal(withinRange(version, range), isIn, `${version} in ${range}`);
  });
});
