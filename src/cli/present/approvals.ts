import type { DataOf } from '../../compose/operation.ts';
import type { Presenter } from '../../compose/terminal.ts';
import type { toolApprove } from '../../operations/tool/tool-approve.ts';
import { tableOf } from './views.ts';

export const approvalsPresenter = {
  data({ approvals }: DataOf<typeof toolApprove>, screen) {
    const rows = approvals.map(({ tool, state, by, at, changed }) => ({
      tool,
      state: changed.length > 0 ? `${state}: ${changed.join(', ')} changed` : state,
      by,
      at,
    }));
    return tableOf(rows, screen, ['tool'], 'Nothing of this project is approved.');
  },
} satisfies Presenter;
