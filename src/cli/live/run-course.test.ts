import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RunCourse } from './run-course.ts';
import { runFooter } from './run-footer.ts';

const screen = { width: 60, color: false, unicode: true, live: true };
const START = { type: 'runner_start', tool: 't', attempt: 1, timeout_s: 100 };
const RUNNING = { type: 'runner_state', from: 'queued', to: 'running' };

function courseOf(waitingStopsDeadline = false) {
  const course = new RunCourse({ waitingStopsDeadline });
  const at = (seconds: number, event: Record<string, unknown>) => course.take(event, seconds * 1000, true);
  const footer = (seconds: number, isLive = true) =>
    runFooter(course, { nowMs: seconds * 1000, isLive, word: '' }, screen);
  return { course, at, footer };
}

describe('the course of a run', () => {
  it('ends a step where the next one begins, and the last one as the run ends', () => {
    const { at } = courseOf();
    at(0, START);
    assert.deepEqual(at(1, { type: 'start', step: 'a' }), []);
    assert.deepEqual(at(2, { type: 'progress', pct: 5 }), [], 'a progress without a step is of the same one');
    assert.deepEqual(at(4, { type: 'progress', step: 'b' }), [{ name: 'a', end: 'done', durationMs: 3000 }]);
    assert.deepEqual(at(9, { type: 'error', code: 'E_X' }), [{ name: 'b', end: 'failed', durationMs: 5000 }]);
    assert.deepEqual(at(9, { type: 'runner_end', state: 'failed' }), [], 'a step ends only once');
  });

  it('does not believe a time that a tool made up, and takes that of a log for what it was', () => {
    const course = new RunCourse({ waitingStopsDeadline: false });
    const ts = (seconds: number) => new Date(seconds * 1000).toISOString();
    course.take({ ...START, ts: ts(10) }, 60_000, false);
    course.take({ type: 'start', step: 'a', ts: ts(20) }, 60_000, false);
    const ends = [ts(5), ts(999), 'nonsense'].map(
      (time, index) => course.take({ type: 'progress', step: `s${index}`, ts: time }, 60_000, false)[0]!,
    );
    assert.deepEqual(
      ends.map(({ durationMs }) => durationMs),
      [0, 40_000, 0],
    );
  });

  it('knows tasks by their ids, and no more of them than it can hold', () => {
    const { course, at, footer } = courseOf();
    at(0, START);
    at(0, RUNNING);
    for (let index = 0; index < 1000; index++) at(1, { type: 'task_started', task_id: `t-${index}` });
    assert.equal(course.tasks.size, 100);
    at(2, { type: 'task_progress', task_id: 't-0', child_event: { type: 'progress', pct: 50, msg: 'half' } });
    assert.match(footer(3)[0]!, /^\S t-0 {2}█{6}░{6} {2}50% {2}half$/);
    assert.equal(footer(3)[4], '  and 96 more');
    assert.deepEqual(at(5, { type: 'task_done', task_id: 't-0', status: 'ok' }), [
      { name: 't-0', end: 'done', durationMs: 4000 },
    ]);
  });
});

describe('the footer of a run', () => {
  it('shows silence and a deadline only when they matter, and never in a recording', () => {
    const { at, footer } = courseOf();
    at(0, START);
    at(0, RUNNING);
    assert.deepEqual(footer(4).at(-1), '  0:04');
    assert.deepEqual(footer(6).at(-1), '  0:06  last sign of life 0:06 ago');
    at(79, { type: 'heartbeat' });
    assert.deepEqual(footer(79).at(-1), '  1:19');
    assert.deepEqual(footer(81).at(-1), '  1:21  deadline in 0:19');
    assert.deepEqual(footer(81, false).at(-1), '  1:19');
  });

  it('says what a run waits for, and gives its waits back to the deadline where they do not count', () => {
    for (const [stops, line] of [
      [true, '  1:21'],
      [false, '  1:21  deadline in 0:19'],
    ] as const) {
      const { at, footer } = courseOf(stops);
      assert.match(footer(0)[0]!, /waits for a queue slot$/);
      at(0, START);
      at(0, RUNNING);
      at(1, { type: 'action_required', action: 'choose', blocking: true });
      at(1, { type: 'runner_state', from: 'running', to: 'waiting_ai' });
      assert.equal(footer(50)[0], '? waits for an answer: choose');
      at(61, { type: 'runner_state', from: 'waiting_ai', to: 'running' });
      at(80, { type: 'heartbeat' });
      assert.equal(footer(81).at(-1), line);
    }
  });

  it('has a deadline of its own after a run is begun again, and one for all tries before its end', () => {
    const { course, at } = courseOf();
    at(0, START);
    at(50, { ...START, attempt: 2 });
    assert.equal(course.deadlineMs, 100_000);
    at(60, { type: 'runner_state', from: 'failed', to: 'queued' });
    at(70, { ...START, attempt: 3 });
    assert.equal(course.deadlineMs, 170_000);
  });
});
