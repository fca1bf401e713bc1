import { cutToWidth, displayWidth, padToWidth } from './display-width.ts';
import type { Screen } from './screen.ts';
import { type Look, styled } from './style.ts';
import { safeLine } from './terminal-text.ts';
import { wrapToWidth } from './wrap-to-width.ts';

const GAP = '  ';
const MIN_COLUMN_WIDTH = 8;
/** With fewer columns than this, a text wraps into too many lines to be readable. */
const MIN_TEXT_WIDTH = 20;

/** The style of a cell, by its column and its text. */
export type CellLook = (column: string, text: string) => Look | undefined;

/**
 * Renders records as a table, or undefined when the screen is too narrow. Keys become columns, in order of appearance;
 * the columns in `whole`, such as ids to copy, are never cut. A text in the last column continues on further lines.
 */
export function renderTable(
  rows: readonly Record<string, unknown>[],
  screen: Screen,
  whole: readonly string[] = [],
  look: CellLook = () => undefined,
): string | undefined {
  const keys = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = rows.map((row) => keys.map((key) => cellText(row[key], screen)));
  const natural = keys.map((key, column) =>
    Math.max(displayWidth(safeLine(key)), ...cells.map((row) => displayWidth(row[column]!))),
  );
  const last = keys.length - 1;
  const isNumeric = keys.map(
    (key) =>
      rows.every((row) => row[key] == null || typeof row[key] === 'number') &&
      rows.some((row) => row[key] != null),
  );
  const floors = natural.map((width, column) => {
    if (whole.includes(keys[column]!)) return width;
    return Math.min(width, column === last && !isNumeric[column] ? MIN_TEXT_WIDTH : MIN_COLUMN_WIDTH);
  });
  const widths = fit(natural, floors, screen.width - GAP.length * last);
  if (widths === undefined) return undefined;
  const draw = (texts: readonly string[]) => {
    const wrapped = isNumeric[last] ? [texts[last] ?? ''] : wrapToWidth(texts[last] ?? '', widths[last]!);
    return wrapped
      .map((lastText, index) => [...texts.slice(0, -1).map((text) => (index === 0 ? text : '')), lastText])
      .map((row) => drawRow(row, { keys, widths, isNumeric, screen, look }))
      .join('\n');
  };
  const head = draw(keys.map(safeLine)).split('\n');
  return [...head.map((line) => styled(line, 'bold', screen)), ...cells.map(draw)].join('\n');
}

function drawRow(
  texts: readonly string[],
  {
    keys,
    widths,
    isNumeric,
    screen,
    look,
  }: {
    keys: readonly string[];
    widths: readonly number[];
    isNumeric: readonly boolean[];
    screen: Screen;
    look: CellLook;
  },
): string {
  const cells = texts.map((text, column) => {
    const cut = cutToWidth(text, widths[column]!, screen.unicode ? '…' : '...');
    const isLast = column === texts.length - 1 && !isNumeric[column];
    const padded = isLast ? cut : padToWidth(cut, widths[column]!, isNumeric[column] ? 'left' : 'right');
    const cellLook = look(keys[column]!, text);
    return cellLook === undefined ? padded : styled(padded, cellLook, screen);
  });
  return cells.join(GAP).trimEnd();
}

/** A value on one line. */
export function cellText(value: unknown, screen: Pick<Screen, 'unicode'>): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return joinLines(value, screen).replaceAll('\t', ' ');
  if (Array.isArray(value) && value.every((each) => typeof each !== 'object' || each === null)) {
    return value.map((each) => cellText(each, screen)).join(', ');
  }
  if (typeof value !== 'object') return String(value);
  const fields = Object.entries(value);
  const isFlat =
    !Array.isArray(value) && fields.every(([, each]) => typeof each !== 'object' || each === null);
  if (!isFlat || fields.length === 0) return JSON.stringify(value);
  return fields.map(([key, each]) => `${safeLine(key)}: ${cellText(each ?? 'null', screen)}`).join(', ');
}

/** Without the blanks around line ends. The text may be a tool's, so no pattern is used that takes quadratic time for many blanks. */
function joinLines(text: string, { unicode }: Pick<Screen, 'unicode'>): string {
  const lines = text.split('\n');
  if (lines.length === 1) return text;
  const between = lines.slice(1, -1).map((line) => line.trim());
  const whole = [lines[0]!.trimEnd(), ...between.filter((line) => line !== ''), lines.at(-1)!.trimStart()];
  return whole.join(unicode ? ' ⏎ ' : ' ');
}

/** Takes from the widest column first, down to its minimum, until all fit. */
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
