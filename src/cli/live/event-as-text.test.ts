import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { eventAsText } from './event-as-text.ts';

const HEAD = { v: 1, ts: '2026-11-23T07:36:39.008Z', run_id: 'r-0123456789abcdef', seq: 3 };

function textOf(event: Record<string, unknown>, maxChars = 4000) {
  return eventAsText({ ...HEAD, trace_id: 't', span_id: 's', ...event }, maxChars);
}

describe('an event of a log as text', () => {
  it('is one line of words, without JSON', () => {
    const start = {
      type: 'runner_start',
      tool: 'hello',
      kind: 'tool',
      args: ['--who', 'Ada L.'],
      attempt: 2,
      timeout_s: 60,
      isolation: { backend: 'bubblewrap', tier: 1, enforced: ['filesystem'], not_enforced: [] },
    };
    const lines: [Record<string, unknown>, string | undefined][] = [
      [start, "begin: hello --who 'Ada L.', attempt 2, at most 1 min, isolation bubblewrap"],
      [{ type: 'start', step: 'greet', args: { who: 'Ada', times: 1 } }, 'start: greet who=Ada times=1'],
      [{ type: 'result', status: 'ok', data: { words: 4 } }, 'result: ok words=4'],
      [{ type: 'result', status: 'ok', data: { output: 'one' } }, 'result: ok one'],
      [{ type: 'runner_log', level: 'warn', msg: 'no JSON', line: 'x' }, 'runner: no JSON: x'],
      [{ type: 'runner_warning', msg: 'soon full' }, 'warning: soon full'],
      [
        { type: 'action_required', action: 'go', action_id: 'a-1', context: { n: 2 } },
        'question a-1: go n=2',
      ],
      [{ type: 'action_answered', action_id: 'a-1', answer: 'yes', by: 'ada' }, 'answer to a-1: yes, by ada'],
      [{ type: 'artifact', path: '/tmp/a', size: 1200 }, 'artifact: /tmp/a, 1.2 kB'],
      [{ type: 'of_the_tool', n: 1, list: [2] }, 'of_the_tool: n=1 list=[2]'],
      [{ type: 'heartbeat' }, undefined],
      [{ type: 'task_submitted', task_id: 'a', payload: { command: 'build' } }, 'task a: submitted, build'],
      [{ type: 'task_started', task_id: 'a', child_run_id: 'r-1' }, 'task a: started as r-1'],
      [
        { type: 'task_progress', task_id: 'a', child_event: { type: 'progress', pct: 50, msg: 'half' } },
        'task a: progress: 50% half',
      ],
      [{ type: 'task_progress', task_id: 'a', child_event: { type: 'heartbeat' } }, undefined],
      [{ type: 'task_done', task_id: 'a', status: 'ok', code: null }, 'task a: ok'],
      [
        { type: 'task_done', task_id: 'a', status: 'failed', code: 'E_INTERNAL', msg: 'no disk' },
        'task a: failed E_INTERNAL: no disk',
      ],
    ];
    for (const [event, text] of lines)
      assert.equal(textOf(event), text === undefined ? undefined : `07:36:39 ${text}`);
  });

  it('is cut to the length of a screen, with the command for all of it', () => {
    const long = { type: 'log', level: 'info', msg: 'x'.repeat(3_000_000) };
    assert.equal(
      textOf(long, 10),
      '07:36:39 info: xxxx […]\n         3.0 MB more: acor logs r-0123456789abcdef --since 2 --limit 1 --json',
    );
    assert.equal(textOf(long, Number.POSITIVE_INFINITY)!.length, 3_000_015);
  });
});
