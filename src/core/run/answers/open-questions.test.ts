import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { questionsIn } from './open-questions.ts';

describe('the questions of a run', () => {
  const ask = (action_id: string, blocking: boolean) => ({ type: 'action_required', action_id, blocking });
  const answer = (action_id: string, value = 'yes') => ({
    type: 'action_answered',
    action_id,
    answer: value,
  });
  const state = (to: string) => ({ type: 'runner_state', to });
  const waiting = [state('running'), ask('a-1', true), state('waiting_ai')];

  function openAfter(...events: object[]): unknown[] {
    const stored = events.map((event, index) => ({ ...event, seq: index + 1 }));
    return questionsIn(stored, true)
      .filter(({ isOpen }) => isOpen)
      .map(({ asked }) => asked.action_id);
  }

  it('are open from the asking to the answer', () => {
    assert.deepEqual(openAfter(...waiting), ['a-1']);
    assert.deepEqual(openAfter(...waiting, ask('a-2', true), answer('a-1')), ['a-2']);
    assert.deepEqual(openAfter(...waiting, answer('a-1'), state('running')), []);
  });

  it('that block it are closed with their attempt, and open again when the next one asks them', () => {
    const over = [...waiting, state('running')];
    assert.deepEqual(openAfter(...over), []);
    assert.deepEqual(openAfter(...over, ask('a-1', true), state('waiting_ai')), ['a-1']);
  });

  it('that do not block it stay open while it continues', () => {
    const both = [ask('b', false), ...waiting];
    assert.deepEqual(openAfter(...both, answer('a-1'), state('running')), ['b']);
  });

  it('that have an answer file are not opened by asking again', () => {
    const answered = [...waiting, answer('a-1'), state('running'), { type: 'runner_end' }];
    const resumed = { ...state('queued'), reason: 'resume' };
    assert.deepEqual(openAfter(...answered, resumed, ...waiting), []);
  });

  it('are opened by a retry, and those whose answer contained a secret by any next attempt of the run', () => {
    const given = (value: string) => [...waiting, answer('a-1', value), state('running')];
    const retried = { ...state('queued'), reason: 'retry' };
    const resumed = { ...state('queued'), reason: 'resume' };
    const end = { type: 'runner_end' };
    assert.deepEqual(openAfter(...given('yes'), end, retried, ...waiting), ['a-1']);
    const secret = '[redacted:TOKEN]';
    assert.deepEqual(openAfter(...given(secret), end, resumed, ...waiting), ['a-1']);
    assert.deepEqual(openAfter(...given(secret), ...waiting), []);
  });

  it('are all closed with the run, whatever ended it', () => {
    assert.deepEqual(openAfter(ask('b', false), ...waiting, { type: 'runner_end' }), []);
  });
});
