import type { DataOf } from '../../compose/operation.ts';
import type { Screen } from '../../compose/screen.ts';
import type { Presenter } from '../../compose/terminal.ts';
import type { runClean } from '../../operations/run/run-clean.ts';
import type { runRemove } from '../../operations/run/run-remove.ts';
import { tableOf } from './views.ts';

/** A longer list of ids is for programs, which read the envelope. */
const MAX_IDS = 20;

export const cleanedPresenter = {
  data: ({ removed, packed, skipped, counts, dry_run, kept }: DataOf<typeof runClean>, screen) =>
    [
      counted(removed, counts.removed, dry_run ? 'would be removed' : 'removed'),
      ...(packed.length > 0 ? [counted(packed, counts.packed, dry_run ? 'would be packed' : 'packed')] : []),
      `${kept} ${runs(kept)} kept`,
      ...(skipped.length > 0 ? [skippedRuns(skipped, screen)] : []),
    ].join('\n'),
} satisfies Presenter;

export const removedPresenter = {
  data: ({ removed, skipped, dry_run }: DataOf<typeof runRemove>, screen) =>
    [
      counted(removed, removed.length, dry_run ? 'would be removed' : 'removed'),
      ...(skipped.length > 0 ? [skippedRuns(skipped, screen)] : []),
    ].join('\n'),
} satisfies Presenter;

/** `ids` may be only a page of `count`. */
function counted(ids: readonly string[], count: number, what: string): string {
  const shown = ids.slice(0, MAX_IDS).map((id) => `  ${id}`);
  const more = count > shown.length ? [`  and ${count - shown.length} more`] : [];
  return [`${count} ${runs(count)} ${what}`, ...shown, ...more].join('\n');
}

function skippedRuns(skipped: DataOf<typeof runClean>['skipped'], screen: Screen): string {
  return `left as they are:\n${tableOf(skipped, screen, ['run_id'], '')}`;
}

function runs(count: number): string {
  return count === 1 ? 'run' : 'runs';
}
