import type { HealthReport } from '../../compose/health-shape.ts';
import { mark } from '../../compose/marks.ts';
import type { Screen } from '../../compose/screen.ts';
import { styled } from '../../compose/style.ts';
import { cellText } from '../../compose/table.ts';
import type { Presenter } from '../../compose/terminal.ts';
import { hanging } from './views.ts';

export const healthPresenter = { data: healthView } satisfies Presenter;

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
