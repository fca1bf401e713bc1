import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { editDistance, nearest, nearestWords } from './nearest.ts';

describe('the nearest words', () => {
  it('are found through a slip, an exchange of neighbours, and capitals', () => {
    assert.deepEqual(nearestWords('verion', ['version', 'name']), ['version']);
    assert.deepEqual(nearestWords('nmae', ['version', 'name']), ['name']);
    assert.deepEqual(nearestWords('TIMEOUT_S', ['timeout_s']), ['timeout_s']);
  });

  it('are none when nothing is near', () => {
    assert.deepEqual(nearestWords('quux', ['version', 'name']), []);
  });

  it('come best first, and are limited', () => {
    assert.deepEqual(nearestWords('toola', ['toolxx', 'toolb', 'tool'], 2), ['tool', 'toolb']);
  });

  it('include a word of which only the beginning was given', () => {
    assert.deepEqual(nearestWords('data', ['data_migrator', 'other']), ['data_migrator']);
  });
});

describe('the edit distance', () => {
  it('counts an exchange of neighbours as one', () => {
    assert.equal(editDistance('ab', 'ba'), 1);
    assert.equal(editDistance('', 'abc'), 3);
    assert.equal(editDistance('kitten', 'sitting'), 3);
    assert.equal(editDistance('same', 'same'), 0);
    assert.equal(editDistance('lst', 'list'), editDistance('list', 'lst'));
    assert.equal(editDistance('run', 'verify'), 5);
  });
});

describe('the nearest word', () => {
  it('names what is near, and nothing that is far', () => {
    const names = ['list', 'describe', 'run', 'config show'];
    const cases: [string, string | undefined][] = [
      ['lst', 'list'],
      ['LIST', 'list'],
      ['descr', 'describe'],
      ['rnu', 'run'],
      ['confg show', 'config show'],
      ['zzzzzz', undefined],
      ['x', undefined],
      ['r'.repeat(100000), undefined],
    ];
    for (const [typed, expected] of cases) assert.equal(nearest(typed, names), expected, typed.slice(0, 20));
  });
});
