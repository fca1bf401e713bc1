import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { isFinal, isRunId, mayFollow, RUN_ID_PATTERN, RUN_STATES, type RunState } from './run.ts';

const states = Object.keys(RUN_STATES) as RunState[];

describe('the life of a run', () => {
  it('goes from queued to running, through questions, to one of three ends', () => {
    const lives: RunState[][] = [
      ['queued', 'running', 'completed'],
      ['queued', 'running', 'failed'],
      ['queued', 'running', 'cancelled'],
      ['queued', 'running', 'waiting_ai', 'running', 'waiting_ai', 'running', 'completed'],
      ['queued', 'running', 'waiting_ai', 'failed'],
      ['queued', 'running', 'waiting_ai', 'cancelled'],
      ['queued', 'cancelled'],
      ['queued', 'failed'],
      ['queued', 'running', 'failed', 'queued', 'running', 'completed'],
    ];
    for (const life of lives) {
      for (const [index, to] of life.slice(1).entries()) {
        assert.ok(mayFollow(life[index] as RunState, to), `${life[index]} → ${to}`);
      }
    }
  });

  it('takes no other step', () => {
    const steps = new Set([
      'queued running',
      'queued failed',
      'queued cancelled',
      'running waiting_ai',
      'running completed',
      'running failed',
      'running cancelled',
      'waiting_ai running',
      'waiting_ai failed',
      'waiting_ai cancelled',
      'failed queued',
      'cancelled queued',
      'completed queued',
    ]);
    for (const from of states) {
      for (const to of states)
        assert.equal(mayFollow(from, to), steps.has(`${from} ${to}`), `${from} → ${to}`);
    }
  });

  it('ends in completed, failed or cancelled, which only a new attempt follows', () => {
    assert.deepEqual(
      states.filter((state) => isFinal(state)),
      ['completed', 'failed', 'cancelled'],
    );
    for (const from of states.filter(isFinal)) {
      const next = states.filter((to) => mayFollow(from, to));
      assert.deepEqual(next, ['queued']);
    }
  });

  it('can end from every state that a run can be in', () => {
    for (const state of states) {
      if (!isFinal(state)) assert.ok(mayFollow(state, 'failed') && mayFollow(state, 'cancelled'), state);
    }
  });
});

describe('the id of a run', () => {
  it('is what the pattern says', () => {
    const ends = [
      '',
      '0',
      'a',
      'z',
      '9',
      '-',
      'A',
      '_',
      '.',
      '/',
      'é',
      '\n',
      '0-',
      '-0',
      'a\n',
      'aZ',
      '`',
      '{',
      ':',
      '/..',
    ];
    const long = ['x'.repeat(62), 'x'.repeat(63), 'x'.repeat(64), '-'.repeat(63), `x${'-'.repeat(62)}`];
    for (const begin of ['r-', 'r', 'R-', '-', '', 'r--', ' r-'])
      for (const end of [...ends, ...long, '1m8my049tfdx2gyw'])
        assert.equal(isRunId(begin + end), RUN_ID_PATTERN.test(begin + end), JSON.stringify(begin + end));
  });

  it('is a text', () => {
    for (const other of [undefined, null, 12, {}, ['r-1']]) assert.equal(isRunId(other), false);
  });
});
