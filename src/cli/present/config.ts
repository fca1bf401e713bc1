import type { DataOf } from '../../compose/operation.ts';
import type { Presenter } from '../../compose/terminal.ts';
import type { configShow } from '../../operations/system/config-show.ts';
import { tableOf } from './views.ts';

export const configPresenter = {
  data({ root, file, values }: DataOf<typeof configShow>, screen) {
    const rows = values.map(({ key, value, source, where }) => ({
      key,
      value,
      from: where === null ? source : `${source} ${where.replace(`${root}/`, '')}`,
    }));
    return `${file ?? `no configuration file; the project is ${root}`}\n\n${tableOf(rows, screen, ['key'], 'No such key.')}`;
  },
} satisfies Presenter;
