import { renderCatalog } from '../../compose/catalog-view.ts';
import type { HealthReport } from '../../compose/health-shape.ts';
import type { DataOf } from '../../compose/operation.ts';
import type { Screen } from '../../compose/screen.ts';
import { mark, styled } from '../../compose/style.ts';
import { cellText } from '../../compose/table.ts';
import type { Presenter } from '../../compose/terminal.ts';
import type { configSet } from '../../operations/system/config-change.ts';
import type { configShow } from '../../operations/system/config-show.ts';
import type { errorList } from '../../operations/system/error-list.ts';
import { documentOf } from '../../operations/system/explain.ts';
import type { secretList } from '../../operations/system/secrets.ts';
import { hanging, pairsOf, tableOf } from './views.ts';

export const healthPresenter = {
  data: healthView,
  failure: (report: HealthReport, screen) => healthView(report, screen).split('\n'),
} satisfies Presenter;

/** The checks of `health`, each with its fix below it. */
function healthView({ status, checks }: HealthReport, screen: Screen): string {
  const looks = { ok: 'green', degraded: 'yellow', blocked: 'red', ready: 'green' } as const;
  const signs = { ok: 'done', degraded: 'warning', blocked: 'failed' } as const;
  const lines = checks.flatMap(({ name, status: each, detail, fix }) => [
    `${styled(`${mark(signs[each], screen)} ${each.padEnd(8)}`, looks[each], screen)}  ${hanging(`${cellText(name, screen)}: ${cellText(detail, screen)}`, 12, screen)}`,
    ...(fix === undefined
      ? []
      : [`${' '.repeat(12)}${hanging(`fix: ${cellText(fix, screen)}`, 12, screen)}`]),
  ]);
  return [styled(status, looks[status], screen), ...lines].join('\n');
}

export const catalogPresenter = { data: renderCatalog } satisfies Presenter;

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

export const changedConfigPresenter = {
  data({ file, key, diff, holds, needs_trust, dry_run }: DataOf<typeof configSet>, screen) {
    const said = diff === '' ? 'unchanged' : dry_run ? 'would change' : 'changed';
    const from =
      holds === null ? '' : ` (${[holds.source, holds.where].filter((part) => part !== null).join(' ')})`;
    const now = holds === null ? `${key} has no value` : `${key} is ${cellText(holds.value, screen)}${from}`;
    return [
      `${said} ${file}`,
      ...(diff === '' ? [] : [diff.trimEnd()]),
      ...(dry_run
        ? []
        : [`${now}${needs_trust ? '; the new value has no effect until a person trusts it' : ''}`]),
    ].join('\n');
  },
} satisfies Presenter;

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

export const explanationPresenter = { data: documentOf } satisfies Presenter;

export const secretsPresenter = {
  data({ secrets }: DataOf<typeof secretList>, screen) {
    const rows = secrets.map(({ name, stored, size, changed_at, tools }) => ({
      name,
      size: stored ? size : 'not stored',
      changed: changed_at,
      tools: tools.join(', '),
    }));
    return tableOf(rows, screen, ['name'], 'There are no secrets in this project, and no tool requests one.');
  },
} satisfies Presenter;
