import type { DataOf } from '../../compose/operation.ts';
import type { Look } from '../../compose/style.ts';
import type { Presenter } from '../../compose/terminal.ts';
import { agoWords, localTime } from '../../compose/time-words.ts';
import type { scheduleList } from '../../operations/schedule/schedules.ts';
import { tableOf } from './views.ts';

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
      runs: [each.workflow ? 'workflow' : '', each.target, ...each.args]
        .filter((word) => word !== '')
        .join(' '),
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

function whenOf({ cron, timezone, on }: Line): string {
  return cron === null ? `changes of ${(on ?? []).join(', ')}` : `${cron} (${timezone})`;
}

function lastOf({ last }: Line, nowMs: number): string {
  if (last === null) return '';
  return [last.outcome, agoWords(last.at, nowMs), last.why ?? last.run_id ?? ''].join(' ').trim();
}
