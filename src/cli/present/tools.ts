import { mark } from '../../compose/marks.ts';
import type { DataOf } from '../../compose/operation.ts';
import type { Presenter } from '../../compose/terminal.ts';
import type { toolList } from '../../operations/tool/tool-list.ts';
import { tableOf } from './views.ts';

export const toolsPresenter = {
  data({ tools }: DataOf<typeof toolList>, screen) {
    const rows = tools.map(
      ({ name, status, version, language, level, description, problems, notes = [] }) => ({
        tool: name,
        version,
        language,
        level,
        description:
          status === 'ok'
            ? [description, ...notes].filter((text) => text !== '').join(' | ')
            : `${mark('failed', screen)} broken: ${problems[0]}`,
      }),
    );
    const none = 'No tools here: put one into tools/<name>/, or leave out --filter.';
    return tableOf(rows, screen, ['tool'], none, (column, text) =>
      column === 'description' && text.startsWith(mark('failed', screen)) ? 'red' : undefined,
    );
  },
} satisfies Presenter;
