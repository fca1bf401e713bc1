import type { DataOf } from '../../compose/operation.ts';
import type { Presenter } from '../../compose/terminal.ts';
import { safeLine } from '../../compose/terminal-text.ts';
import type { runVerify } from '../../operations/run/run-verify.ts';
import { countOf } from '../../util/count-of.ts';
import { tableOf } from './views.ts';

/** Every difference on a line of its own: the failure itself names only the first. */
export const verifiedPresenter = {
  data: ({ runs, counts }: DataOf<typeof runVerify>, screen) =>
    [
      `no problem found: ${countOf(counts.runs, 'run')}, ${countOf(counts.events, 'event')}, ${countOf(counts.artifacts, 'artifact')}`,
      ...(runs.length === 0 ? [] : [tableOf(runs, screen, ['run_id'], '')]),
    ].join('\n'),
  failure: ({ runs, ledger }: DataOf<typeof runVerify>) =>
    [...runs.flatMap(({ problems }) => problems), ...ledger].map(({ run_id, path, problem, line }) =>
      safeLine(`${run_id}  ${path}${line === undefined ? '' : `:${line}`}: ${problem}`),
    ),
} satisfies Presenter;
