import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { nearest } from './suggest.ts';

describe('suggestion', () => {
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
