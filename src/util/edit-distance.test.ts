import assert from 'node:assert/strict';
import { it } from 'node:test';
import { editDistance } from './edit-distance.ts';

it('editDistance counts insertions, deletions, replacements and swaps of neighbours', () => {
  const cases: [string, string, number][] = [
    ['', '', 0],
    ['', 'abc', 3],
    ['list', 'list', 0],
    ['lst', 'list', 1],
    ['lsit', 'list', 1],
    ['last', 'list', 1],
    ['kitten', 'sitting', 3],
    ['run', 'verify', 5],
  ];
  for (const [a, b, distance] of cases) {
    assert.equal(editDistance(a, b), distance, `${a} ${b}`);
    assert.equal(editDistance(b, a), distance, `${b} ${a}`);
  }
});
