import type { DataOf } from '../../compose/operation.ts';
import type { Presenter } from '../../compose/terminal.ts';
import type { errorList } from '../../operations/system/error-list.ts';
import { pairsOf, tableOf } from './views.ts';

export const errorsPresenter = {
  data({ codes }: DataOf<typeof errorList>, screen) {
    if (codes.length === 1) return pairsOf(codes[0]!, screen);
    const rows = codes.map(({ code, class: kind, retryable, hint }) => ({
      code,
      class: kind,
      retry: retryable ? 'yes' : '',
      hint,
    }));
    return tableOf(rows, screen, ['code'], 'There are no error codes.');
  },
} satisfies Presenter;
