import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CronTimes } from './cron-times.ts';
import { dueTimes, upcomingTimes } from './due-times.ts';
import type { CronTrigger } from './schedule.ts';

const ms = Date.parse;
const iso = (times: readonly number[]) => times.map((each) => new Date(each).toISOString());

function cron(cron: string, rest: Partial<CronTrigger> = {}): CronTrigger {
  return { kind: 'cron', cron, timezone: 'Europe/Berlin', jitter_s: 0, missed: 'once', ...rest };
}

/** The times at which a server that looks every ten minutes starts runs, by a clock that is moved. */
function started(trigger: CronTrigger, from: string, to: string): string[] {
  const found: number[] = [];
  let settledMs = ms(from);
  for (let nowMs = ms(from); nowMs <= ms(to); nowMs += 600_000) {
    const { due, settledMs: settled } = dueTimes(trigger, 'x', settledMs, nowMs);
    found.push(...due);
    settledMs = settled ?? settledMs;
  }
  return iso(found);
}

describe('the times of a schedule', () => {
  it('follow the time zone: a time that the clock leaves out in spring is run at the end of the gap, once', () => {
    assert.deepEqual(started(cron('30 2 * * *'), '2026-03-28T12:00:00Z', '2026-03-30T12:00:00Z'), [
      '2026-03-29T01:00:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ]);
  });

  it('are run once in autumn when the clock repeats the hour', () => {
    assert.deepEqual(started(cron('30 2 * * *'), '2026-10-24T12:00:00Z', '2026-10-26T12:00:00Z'), [
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ]);
  });

  it('of every half hour go on through both changes, 48 a day of 24 hours', () => {
    for (const [from, to, count] of [
      ['2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z', 46],
      ['2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z', 50],
    ] as const)
      assert.equal(started(cron('*/30 * * * *'), from, to).length, count);
  });

  it('are the same forwards and backwards around every change of the clocks', () => {
    for (const timezone of ['Europe/Berlin', 'America/New_York', 'Australia/Lord_Howe', 'UTC'])
      for (const text of ['30 2 * * *', '*/20 * * * *', '0 * * * *', '15 1,2,3 * * 0', '30 1 * * *'])
        for (const day of [
          '2026-03-28',
          '2026-10-24',
          '2026-03-07',
          '2026-10-31',
          '2026-10-03',
          '2026-04-04',
        ]) {
          const times = new CronTimes({ cron: text, timezone });
          const [from, to] = [ms(day), ms(day) + 3 * 86_400_000];
          const forwards: number[] = [];
          for (let at = times.after(from); at !== undefined && at < to; at = times.after(at))
            forwards.push(at);
          const backwards = times.before(to, forwards.length);
          assert.deepEqual(iso(backwards), iso(forwards), `${text} ${timezone} ${day}`);
        }
  });
});

describe('times at which no server ran', () => {
  const hourly = (missed: CronTrigger['missed']) => cron('0 * * * *', { timezone: 'UTC', missed });
  const [settled, now] = [ms('2026-11-01T00:00:00Z'), ms('2026-11-01T05:00:30Z')];

  it('are made up for by one run, the latest', () => {
    const { due, missed, settledMs } = dueTimes(hourly('once'), 'x', settled, now);
    assert.deepEqual([iso(due), missed], [['2026-11-01T05:00:00.000Z'], 4]);
    assert.equal(settledMs, due[0]);
    // Also when the latest one is long past.
    const later = dueTimes(hourly('once'), 'x', settled, ms('2026-11-01T05:40:00Z'));
    assert.deepEqual(iso(later.due), ['2026-11-01T05:00:00.000Z']);
  });

  it('are each made up for with `all`, at most the last hundred', () => {
    const { due, missed } = dueTimes(hourly('all'), 'x', settled, now);
    assert.deepEqual([due.length, missed], [5, 0]);
    const long = dueTimes(hourly('all'), 'x', settled, ms('2026-11-11T00:00:00Z'));
    assert.deepEqual(
      [long.due.length, iso(long.due.slice(-1)), iso([long.nextMs!])],
      [100, ['2026-11-11T00:00:00.000Z'], ['2026-11-11T01:00:00.000Z']],
    );
    assert.ok(long.missed > 0);
  });

  it('are left out with `skip`, but for a time within the last minute', () => {
    const { due, missed } = dueTimes(hourly('skip'), 'x', settled, now);
    assert.deepEqual([iso(due), missed], [['2026-11-01T05:00:00.000Z'], 4]);
    const late = dueTimes(hourly('skip'), 'x', settled, ms('2026-11-01T05:02:00Z'));
    assert.deepEqual([late.due, late.missed], [[], 5]);
    assert.equal(late.settledMs, ms('2026-11-01T05:00:00Z'));
  });

  it('of a schedule that was never due are none', () => {
    const { due, missed, settledMs, nextMs } = dueTimes(hourly('all'), 'x', settled, settled + 1000);
    assert.deepEqual(
      [due, missed, settledMs, iso([nextMs!])],
      [[], 0, undefined, ['2026-11-01T01:00:00.000Z']],
    );
  });
});

describe('jitter', () => {
  const trigger = cron('0 * * * *', { timezone: 'UTC', jitter_s: 600 });
  const from = ms('2026-11-01T00:30:00Z');

  it('delays each time by a part of it that stays the same after a restart, and differs between times and names', () => {
    const delays = (name: string) => upcomingTimes(trigger, name, from, 50).map((at) => at % 3_600_000);
    assert.deepEqual(delays('a'), delays('a'));
    assert.ok(delays('a').every((each) => each >= 0 && each < 600_000));
    assert.ok(new Set(delays('a')).size > 40);
    assert.notDeepEqual(delays('a'), delays('b'));
  });

  it('that is longer than the time between two lets none be due before those before it', () => {
    const often = cron('* * * * *', { timezone: 'UTC', jitter_s: 1200 });
    const upcoming = upcomingTimes(often, 'often', from, 20);
    assert.deepEqual(upcoming, upcoming.toSorted());
    // A server that has done nothing yet looks at the first of them first.
    assert.equal(dueTimes(often, 'often', from, from).nextMs, upcoming[0]);
    for (const at of upcoming) assert.ok(dueTimes(often, 'often', from, at).settledMs !== undefined);
  });

  it('is waited for: the run is due only after it', () => {
    const [at] = upcomingTimes(trigger, 'a', from, 1) as [number];
    const before = dueTimes(trigger, 'a', from, at - 1);
    assert.deepEqual([before.due, before.nextMs], [[], at]);
    assert.deepEqual(iso(dueTimes(trigger, 'a', from, at).due), ['2026-11-01T01:00:00.000Z']);
  });
});

describe('an invalid schedule', () => {
  for (const [text, timezone, about] of [
    ['61 * * * *', 'UTC', /minute: 61/],
    ['* * *', 'UTC', /invalid/],
    ['hello', 'UTC', /invalid/],
    ['@reboot', 'UTC', /not supported/],
    ['0 3 * * *', 'Nowhere/City', /there is no time zone "Nowhere\/City"/],
  ] as const)
    it(`is refused: ${text} ${timezone}`, () => {
      assert.throws(() => new CronTimes({ cron: text, timezone }), { code: 'E_USAGE', message: about });
    });

  it('is one that no time follows', () => {
    assert.equal(new CronTimes({ cron: '0 0 30 2 *', timezone: 'UTC' }).after(Date.now()), undefined);
  });
});
