import { cutToWidth, displayWidth, padToWidth } from './display-width.ts';
import type { Screen } from './screen.ts';
import { styled } from './style.ts';

const GAP = '  ';
const MIN_COLUMN_WIDTH = 8;

/**
 * A table of records, or undefined when the screen is too narrow for it. Keys are columns, in order of appearance; those
 * named in `whole`, such as ids that are to be copied, are never cut.
 */
export function renderTable(
  rows: readonly Record<string, unknown>[],
  screen: Screen,
  whole: readonly string[] = [],
): string | undefined {
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = rows.map((row) => keys.map((key) => cellText(row[key], screen)));
  const natural = keys.map((key, column) =>
    Math.max(displayWidth(key), ...cells.map((row) => displayWidth(row[column]!))),
  );
  const floors = natural.map((width, column) =>
    whole.includes(keys[column]!) ? width : Math.min(width, MIN_COLUMN_WIDTH),
  );
  const widths = fit(natural, floors, screen.width - GAP.length * (keys.length - 1));
  if (widths === undefined) return undefined;
  const isNumeric = keys.map((key) => rows.every((row) => row[key] == null || typeof row[key] === 'number'));
  const draw = (texts: readonly string[]) =>
    texts
      .map((text, column) => {
        const cut = cutToWidth(text, widths[column]!, screen.unicode ? '…' : '...');
        return padToWidth(cut, widths[column]!, isNumeric[column] ? 'left' : 'right');
      })
      .join(GAP)
      .trimEnd();
  return [styled(draw(keys), 'bold', screen), ...cells.map(draw)].join('\n');
}

/** A value on one line. */
export function cellText(value: unknown, screen: Pick<Screen, 'unicode'>): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string')
    return value.replace(/\s*\n\s*/g, screen.unicode ? ' ⏎ ' : ' ').replaceAll('\t', ' ');
  if (Array.isArray(value) && value.every((each) => typeof each !== 'object' || each === null)) {
    return value.map((each) => cellText(each, screen)).join(', ');
  }
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** Takes from the widest column first, down to its floor, until all fit. */
function fit(natural: readonly number[], floors: readonly number[], room: number): number[] | undefined {
  if (sum(floors) > room) return undefined;
  const widths = [...natural];
  for (let excess = sum(widths) - room; excess > 0; excess--) {
    const spare = widths.map((width, column) => (width > floors[column]! ? width : 0));
    widths[spare.indexOf(Math.max(...spare))]!--;
  }
  return widths;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
