import type { HealthReport } from '../compose/health-shape.ts';
import type { Screen } from '../compose/screen.ts';
import { styled } from '../compose/style.ts';
import { cellText, renderTable } from '../compose/table.ts';

type Row = Readonly<Record<string, unknown>>;

/** Rows as a table with whole ids; on a screen that is too narrow, one row a paragraph. */
export function tableOf(
  rows: readonly Row[],
  screen: Screen,
  whole: readonly string[],
  ifNone: string,
): string {
  if (rows.length === 0) return styled(ifNone, 'dim', screen);
  return renderTable(rows, screen, whole) ?? rows.map((row) => pairsOf(row, screen)).join('\n\n');
}

/** One record as `key  value` lines; what is empty is left out. */
export function pairsOf(row: Row, screen: Screen): string {
  const pairs = Object.entries(row)
    .map(([key, value]) => [key, cellText(value, screen)] as const)
    .filter(([, text]) => text !== '');
  const width = Math.max(0, ...pairs.map(([key]) => key.length));
  return pairs.map(([key, text]) => `${styled(key.padEnd(width), 'bold', screen)}  ${text}`).join('\n');
}

/** The checks of `health`, each with its fix below it. */
export function healthView({ status, checks }: HealthReport, screen: Screen): string {
  const looks = { ok: 'green', degraded: 'yellow', blocked: 'red', ready: 'green' } as const;
  const lines = checks.flatMap(({ name, status: each, detail, fix }) => [
    `${styled(each.padEnd(8), looks[each], screen)}  ${cellText(name, screen)}: ${cellText(detail, screen)}`,
    ...(fix === undefined ? [] : [`${' '.repeat(10)}fix: ${cellText(fix, screen)}`]),
  ]);
  return [styled(status, looks[status], screen), ...lines].join('\n');
}

/** How long ago, in the largest whole unit. */
export function ageOf(time: string, nowMs: number = Date.now()): string {
  const seconds = Math.max(0, Math.floor((nowMs - Date.parse(time)) / 1000));
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m`;
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)}h` : `${Math.floor(seconds / 86_400)}d`;
}
