import { displayWidth, measured } from './display-width.ts';

/**
 * Wraps a text to lines of at most this many columns: at spaces, and inside words that are longer. Not
 * `fast-wrap-ansi`, because it breaks words between code points, which splits emoji, and drops the indentation of a
 * line.
 */
export function wrapToWidth(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => (displayWidth(line) <= width ? [line] : wrapLine(line, width)));
}

function wrapLine(line: string, width: number): string[] {
  const rows: string[] = [];
  let row = '';
  let used = 0;
  for (const { segment, columns } of measured(line)) {
    if (used + columns > width && row !== '') {
      const space = segment === ' ' ? -1 : row.lastIndexOf(' ');
      // A break far to the left would leave most of the row empty.
      const cut = space * 2 > row.length ? space : row.length;
      rows.push(row.slice(0, cut).trimEnd());
      row = row.slice(cut).trimStart();
      used = displayWidth(row);
      if (segment === ' ') continue;
    }
    row += segment;
    used += columns;
  }
  return [...rows, row];
}
