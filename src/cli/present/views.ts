import type { Screen } from '../../compose/screen.ts';
import { styled } from '../../compose/style.ts';
import { type CellLook, cellText, renderTable } from '../../compose/table.ts';
import { wrapToWidth } from '../../compose/wrap-to-width.ts';

/** In fewer columns a text is not worth wrapping. */
const MIN_ROOM = 16;

type Row = Readonly<Record<string, unknown>>;

/** Rows as a table with whole ids, without empty columns; on a narrow screen, one paragraph per row. */
export function tableOf(
  rows: readonly Row[],
  screen: Screen,
  whole: readonly string[],
  ifNone: string,
  look?: CellLook,
): string {
  if (rows.length === 0) return styled(hanging(ifNone, 0, screen), 'dim', screen);
  const isUsed = (key: string) => rows.some((row) => cellText(row[key], screen) !== '');
  const used = rows.map((row) => Object.fromEntries(Object.entries(row).filter(([key]) => isUsed(key))));
  return renderTable(used, screen, whole, look) ?? rows.map((row) => pairsOf(row, screen)).join('\n\n');
}

/** One record as `key  value` lines, without empty values. */
export function pairsOf(row: Row, screen: Screen): string {
  const pairs = Object.entries(row)
    .map(([key, value]) => [key, cellText(value, screen)] as const)
    .filter(([, text]) => text !== '');
  const width = Math.max(0, ...pairs.map(([key]) => key.length));
  return pairs
    .map(([key, text]) => `${styled(key.padEnd(width), 'bold', screen)}  ${hanging(text, width + 2, screen)}`)
    .join('\n');
}

/**
 * A text that starts at this column and continues there on further lines. A single long word stays whole for copying.
 */
export function hanging(text: string, columns: number, screen: Screen): string {
  const room = screen.width - columns;
  const isLeft = room < MIN_ROOM || !text.includes(' ');
  return (isLeft ? text.split('\n') : wrapToWidth(text, room)).join(`\n${' '.repeat(columns)}`);
}
