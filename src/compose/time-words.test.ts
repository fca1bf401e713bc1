import assert from 'node:assert/strict';
import { it } from 'node:test';
import { agoWords, clockFace, durationWords, localTime, sizeWords } from './time-words.ts';

it('a duration has its two largest units', () => {
  const words = [0.04, 9.94, 9.96, 59.4, 59.6, 60, 125, 3600, 3780, 90_000, 86_400 * 12].map(durationWords);
  const expected = ['0.0 s', '9.9 s', '10 s', '59 s', '1 min', '1 min', '2 min 5 s', '1 h', '1 h 3 min'];
  assert.deepEqual(words, [...expected, '1 d 1 h', '12 d']);
});

it('a moment is shown as the time since then, and a future one, after the clock was set back, as now', () => {
  const nowMs = Date.parse('2026-01-10T00:00:00Z');
  const ago = (seconds: number) => agoWords(new Date(nowMs - seconds * 1000).toISOString(), nowMs);
  assert.deepEqual([-99, 4, 5, 59, 60, 3599, 3600, 86_399, 86_400].map(ago), [
    'just now',
    'just now',
    '5 s ago',
    '59 s ago',
    '1 min ago',
    '59 min ago',
    '1 h ago',
    '23 h ago',
    '1 d ago',
  ]);
  assert.equal(agoWords('nonsense', nowMs), '');
});

it('a time is shown in local time', () => {
  const at = new Date(2026, 0, 2, 3, 4, 5);
  assert.equal(localTime(at.toISOString()), '2026-01-02 03:04:05');
  assert.equal(localTime('nonsense'), 'nonsense');
});

it('a running clock and a size are short', () => {
  assert.deepEqual([-5, 7_900, 750_000, 3_723_000].map(clockFace), ['0:00', '0:07', '12:30', '1:02:03']);
  const sizes = [0, 999, 1000, 1234, 34_500_000, 999_600, 5e12].map(sizeWords);
  assert.deepEqual(sizes, ['0 B', '999 B', '1.0 kB', '1.2 kB', '35 MB', '1.0 MB', '5.0 TB']);
});
