import type { DataOf } from '../../compose/operation.ts';
import type { Presenter } from '../../compose/terminal.ts';
import type { secretList } from '../../operations/system/secret-list.ts';
import { tableOf } from './views.ts';

export const secretsPresenter = {
  data({ secrets }: DataOf<typeof secretList>, screen) {
    const rows = secrets.map(({ name, stored, size, changed_at, tools }) => ({
      name,
      size: stored ? size : 'not stored',
      changed: changed_at,
      tools: tools.join(', '),
    }));
    return tableOf(rows, screen, ['name'], 'There are no secrets in this project, and no tool asks for one.');
  },
} satisfies Presenter;
