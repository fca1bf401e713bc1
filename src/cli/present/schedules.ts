import type { DataOf } from '../../compose/operation.ts';
import { type Look, styled } from '../../compose/style.ts';
import type { Presenter } from '../../compose/terminal.ts';
import { agoWords, durationWords, localTime } from '../../compose/time-words.ts';
import type { scheduleList, scheduleShow } from '../../operations/schedule/schedules.ts';
import { shellCommand } from '../../util/shell-words.ts';
import { pairsOf, tableOf } from './views.ts';

type Data = DataOf<typeof scheduleList>;
type Line = Data['schedules'][number];

const NONE = 'No schedules. Add one with: acor schedule add <tool> --cron "<when>"';
const LOOKS: Readonly<Record<string, Look>> = { active: 'green', paused: 'yellow' };

export const schedulesPresenter = {
  data({ schedules, served }: Data, screen) {
    const nowMs = Date.now();
    const rows = schedules.map((each) => ({
      name: each.name,
      state: each.state,
      runs: callOf(each),
      when: whenOf(each),
      // The cron expression beside it is in the zone of the schedule.
      'next (local time)': each.next_at === null ? '' : localTime(each.next_at),
      last: lastOf(each, nowMs),
      note: each.why ?? '',
    }));
    const table = tableOf(rows, screen, ['name', 'when', 'next (local time)'], NONE, (column, text) =>
      column === 'state' ? LOOKS[text] : undefined,
    );
    return served || schedules.length === 0 ? table : `${table}\n\nNo server runs them now.`;
  },
} satisfies Presenter;

type Shown = DataOf<typeof scheduleShow>;

export const schedulePresenter = {
  data(shown: Shown, screen) {
    const nowMs = Date.now();
    const { jitter_s: jitter, history, served } = shown;
    const facts = {
      runs: callOf(shown),
      in: shown.cwd,
      when: whenOf(shown),
      delay: jitter === null || jitter === 0 ? '' : `each time by up to ${durationWords(jitter)}`,
      missed: shown.missed === null ? '' : MISSED_WORDS[shown.missed],
      why: shown.why ?? '',
      'next (local time)': shown.upcoming.map(localTime).join(', '),
      added: `${localTime(shown.created_at)} (${agoWords(shown.created_at, nowMs)}) by ${shown.by}`,
    };
    const rows = history.map(({ at, outcome, run_id, why }) => ({
      at: localTime(at),
      outcome,
      run: run_id ?? '',
      note: why ?? '',
    }));
    const parts = [
      `${styled(shown.state, LOOKS[shown.state]!, screen)}  ${shown.name}`,
      pairsOf(facts, screen),
      tableOf(rows, screen, ['at', 'run'], 'It has not been due yet.'),
      served ? '' : 'No server runs the schedules now.',
    ];
    return parts.filter((part) => part !== '').join('\n\n');
  },
} satisfies Presenter;

const MISSED_WORDS: Readonly<Record<NonNullable<Shown['missed']>, string>> = {
  once: 'the latest of the times at which no server ran is made up for',
  all: 'all times at which no server ran are made up for',
  skip: 'times at which no server ran are not made up for',
};

function callOf({ workflow, target, args }: Pick<Line, 'workflow' | 'target' | 'args'>): string {
  return shellCommand([...(workflow ? ['workflow'] : []), target, ...args]);
}

function whenOf({ cron, timezone, on }: Pick<Line, 'cron' | 'timezone' | 'on'>): string {
  return cron === null ? `changes of ${(on ?? []).join(', ')}` : `${cron} (${timezone})`;
}

function lastOf({ last }: Line, nowMs: number): string {
  if (last === null) return '';
  return [last.outcome, agoWords(last.at, nowMs), last.why ?? last.run_id ?? ''].join(' ').trim();
}
