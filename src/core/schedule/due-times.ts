import { newSha256 } from '../../util/sha256.ts';
import { unreachable } from '../../util/unreachable.ts';
import { CronTimes } from './cron-times.ts';
import type { CronTrigger } from './schedule.ts';

/** So late a time still counts as kept: a server needs seconds to restart, and a busy machine delays timers. */
const LATE_MS = 60_000;
/** At most so many missed times are made up for. */
const MAX_MISSED = 100;

export interface DueTimes {
  /** The times whose runs are to be started now, in their order. */
  due: number[];
  /** How many times before the last of `due` or of these are not made up for. */
  missed: number;
  /** The last time that is handled when the runs of `due` are started; undefined when nothing has to be done. */
  settledMs: number | undefined;
  /** When to look again; undefined when no time follows. */
  nextMs: number | undefined;
}

/** What a schedule has to do now, when every time up to `settledMs` has been handled. */
export function dueTimes(trigger: CronTrigger, name: string, settledMs: number, nowMs: number): DueTimes {
  const times = new CronTimes(trigger);
  const dueAt = (ms: number) => ms + jitterOf(trigger, name, ms);
  const ready: number[] = [];
  let next = times.after(settledMs);
  while (next !== undefined && dueAt(next) <= nowMs && ready.length <= MAX_MISSED) {
    ready.push(next);
    next = times.after(next);
  }
  let missed = 0;
  if (ready.length > MAX_MISSED) {
    // After a long time without a server, only the last times count.
    const last = times.before(nowMs + 1, MAX_MISSED + 1).filter((ms) => dueAt(ms) <= nowMs);
    ready.splice(0, ready.length, ...last.slice(-MAX_MISSED));
    missed = 1;
    next = times.after(ready.at(-1)!);
  }
  const due = chosen(trigger, ready, (ms) => nowMs - dueAt(ms) <= LATE_MS);
  return {
    due,
    missed: missed + ready.length - due.length,
    settledMs: ready.at(-1),
    nextMs: next === undefined ? undefined : dueAt(next),
  };
}

function chosen(
  { missed }: CronTrigger,
  ready: readonly number[],
  isOnTime: (ms: number) => boolean,
): number[] {
  switch (missed) {
    case 'all':
      return [...ready];
    case 'once':
      return ready.slice(-1);
    case 'skip':
      return ready.filter(isOnTime);
    default:
      return unreachable(missed);
  }
}

/** The same for the same time, so that a restart neither repeats nor moves it. */
function jitterOf({ jitter_s }: CronTrigger, name: string, ms: number): number {
  if (jitter_s === 0) return 0;
  const hash = newSha256().update(`${name} ${ms}`).digest();
  return Math.floor((hash.readUInt32BE() / 2 ** 32) * jitter_s * 1000);
}

/** The next times from a moment on, with their jitter. A jitter may be longer than the time between two: none is due before those before it. */
export function upcomingTimes(trigger: CronTrigger, name: string, fromMs: number, count: number): number[] {
  const times = new CronTimes(trigger);
  const upcoming: number[] = [];
  for (
    let next = times.after(fromMs);
    next !== undefined && upcoming.length < count;
    next = times.after(next)
  )
    upcoming.push(Math.max(upcoming.at(-1) ?? 0, next + jitterOf(trigger, name, next)));
  return upcoming;
}
