import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TaskHistory } from './task-history.ts';

type Event = Record<string, unknown>;

function historyOf(events: readonly Event[], lastSteps: readonly string[] = []): TaskHistory {
  const history = new TaskHistory(lastSteps);
  for (const event of events) history.add(event);
  return history;
}

const submitted = (task_id: string, more: Event = {}): Event => ({
  type: 'task_submitted',
  task_id,
  ...more,
});
const started = (task_id: string, child_run_id: string, more: Event = {}): Event => ({
  type: 'task_started',
  task_id,
  child_run_id,
  ...more,
});
const done = (task_id: string, more: Event = {}): Event => ({
  type: 'task_done',
  task_id,
  status: 'ok',
  ...more,
});

describe('the history of tasks', () => {
  it('says nothing of a task that no event names', () => {
    assert.deepEqual(historyOf([]).of('a'), {
      tries: 0,
      triesBefore: 0,
      isOpen: false,
      childRunId: null,
      hasBegun: false,
      done: undefined,
      recordedSeq: 0,
    });
  });

  it('follows a task from its submission to its end', () => {
    const history = historyOf([submitted('a'), submitted('b')]);
    assert.deepEqual(history.of('a'), {
      tries: 1,
      triesBefore: 0,
      isOpen: true,
      childRunId: null,
      hasBegun: false,
      done: undefined,
      recordedSeq: 0,
    });
    history.add(started('a', 'r-1'));
    history.add({ type: 'task_progress', task_id: 'a', child_event: { seq: 7 } });
    assert.deepEqual(
      history.open().map(([id]) => id),
      ['a', 'b'],
    );
    const { hasBegun, childRunId, recordedSeq } = history.of('a');
    assert.deepEqual([hasBegun, childRunId, recordedSeq], [true, 'r-1', 7]);
    history.add(done('a', { status: 'failed', code: 'E_X', msg: 'broke', passed_over: true }));
    assert.deepEqual(history.of('a').done, {
      status: 'failed',
      code: 'E_X',
      message: 'broke',
      wasPassedOver: true,
    });
    assert.deepEqual(
      history.open().map(([id]) => id),
      ['b'],
    );
    history.add(done('b'));
    assert.deepEqual(history.of('b').done, { status: 'ok', code: null, message: null, wasPassedOver: false });
  });

  it('counts up to which event of the child the log has it', () => {
    const at = (type: string, seq: number) => ({ type, task_id: 'a', child_event: { seq } });
    for (const type of ['task_progress', 'task_action_required', 'task_error'])
      assert.equal(historyOf([submitted('a'), started('a', 'r-1'), at(type, 9)]).of('a').recordedSeq, 9);
    const again = [submitted('a'), started('a', 'r-1'), at('task_error', 9)];
    assert.equal(historyOf([...again, started('a', 'r-1', { since_seq: 5 })]).of('a').recordedSeq, 5);
    assert.equal(historyOf([...again, started('a', 'r-1')]).of('a').recordedSeq, 0);
    assert.equal(historyOf([...again, submitted('a')]).of('a').recordedSeq, 0);
    assert.equal(historyOf([{ type: 'task_error', task_id: 'a' }]).of('a').recordedSeq, 0);
  });

  it('counts the tries of a task, and those before it was reset', () => {
    const twice = [submitted('a'), submitted('a')];
    assert.deepEqual([historyOf(twice).of('a').tries, historyOf(twice).of('a').triesBefore], [2, 0]);
    // A new submission after an end is the first of a new attempt.
    const later = historyOf([...twice, done('a', { status: 'failed' }), submitted('a')]).of('a');
    assert.deepEqual([later.tries, later.triesBefore, later.done], [3, 2, undefined]);
  });

  it('opens a task again whose child a person resumed', () => {
    const { isOpen, done: end } = historyOf([submitted('a'), done('a'), started('a', 'r-1')]).of('a');
    assert.deepEqual([isOpen, end], [true, undefined]);
  });

  it('keeps the run that the next try of a workflow resumes', () => {
    assert.equal(historyOf([submitted('a', { child_run_id: 'r-1' })]).of('a').childRunId, 'r-1');
    assert.equal(historyOf([submitted('a', { child_run_id: 7 })]).of('a').childRunId, null);
  });

  it('resets all tasks with a retry, and the named steps with their parts, but not their tries', () => {
    const before = [submitted('a[1]'), done('a[1]'), submitted('b'), done('b')];
    const retried = historyOf([...before, { type: 'runner_state', reason: 'retry' }]);
    for (const id of ['a[1]', 'b']) {
      const { tries, triesBefore, done: end } = retried.of(id);
      assert.deepEqual([tries, triesBefore, end], [1, 1, undefined]);
    }
    const from = historyOf([...before, { type: 'runner_state', reason: 'resume', steps_again: ['a'] }]);
    assert.deepEqual([from.of('a[1]').done, from.of('b').done?.status], [undefined, 'ok']);
    const resumed = historyOf([...before, { type: 'runner_state', reason: 'resume' }]);
    assert.equal(resumed.of('a[1]').done?.status, 'ok');
  });

  it('runs final steps again once an ordinary step has started again', () => {
    const first = [submitted('a'), done('a'), submitted('last'), done('last')];
    assert.equal(historyOf(first, ['last']).of('last').done?.status, 'ok');
    assert.equal(historyOf([...first, submitted('b')], ['last']).of('last').done, undefined);
    assert.equal(historyOf([...first, submitted('b')], ['other']).of('last').done?.status, 'ok');
    // A second final step resets none.
    assert.equal(
      historyOf([...first, submitted('last.2')], ['last', 'last.2']).of('last').done?.status,
      'ok',
    );
    // After a reset, the next ordinary step resets nothing that has ended since.
    const again = [...first, submitted('b'), done('last'), submitted('c')];
    assert.equal(historyOf(again, ['last']).of('last').done?.status, 'ok');
  });
});
