import type { DataOf } from '../../compose/operation.ts';
import type { Presenter } from '../../compose/terminal.ts';
import { safeLine } from '../../compose/terminal-text.ts';
import type { runVerify } from '../../operations/run/run-verify.ts';

/** Every difference on a line of its own: the failure itself names only the first. */
export const verifiedPresenter = {
  failure: ({ runs, ledger }: DataOf<typeof runVerify>) =>
    [...runs.flatMap(({ problems }) => problems), ...ledger].map(({ run_id, path, problem, line }) =>
      safeLine(`${run_id}  ${path}${line === undefined ? '' : `:${line}`}: ${problem}`),
    ),
} satisfies Presenter;
