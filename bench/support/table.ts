import type { Row, Unit } from './bench.ts';

const HEAD = ['what', 'ACOR', 'baseline', 'ratio', 'target', 'met'];

/** The rows as a Markdown table, its columns in line. */
export function tableOf(rows: readonly Row[]): string {
  return columns([HEAD, ...rows.map(cellsOf)]);
}

/** Cells as a Markdown table; the first line is its head. */
export function columns(cells: readonly (readonly string[])[]): string {
  const lines = cells.map((line) => line.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map((cells) => cells[column]!.length)));
  const [head, ...body] = lines.map(
    (cells) => `| ${cells.map((cell, i) => cell.padEnd(widths[i]!)).join(' | ')} |`,
  );
  return [head, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...body, ''].join('\n');
}

function cellsOf({ what, unit, acor, baseline, target }: Row): string[] {
  return [
    what,
    figure(acor, unit),
    baseline === null ? '' : `${figure(baseline.value, unit)} (${baseline.what})`,
    baseline === null ? '' : ratioOf(acor, baseline.value, unit),
    target?.text ?? '',
    target === null ? '' : target.met ? 'yes' : 'no',
  ];
}

/** For times the difference too: what a supervisor adds does not grow with what the tool takes. */
function ratioOf(acor: number, baseline: number, unit: Unit): string {
  const ratio = `${round(acor / baseline)}×`;
  if (unit !== 'ms') return ratio;
  const difference = acor - baseline;
  return `${ratio}, ${difference < 0 ? '−' : '+'}${round(Math.abs(difference))} ms`;
}

function figure(value: number, unit: Unit): string {
  switch (unit) {
    case 'events/s':
      return value >= 1e6 ? `${round(value / 1e6)} M/s` : `${round(value / 1e3)} k/s`;
    case 'steps/s':
      return `${round(value)} steps/s`;
    case 'MB/s':
      return `${round(value)} MB/s`;
    case 'bytes':
      return value >= 1e5 ? `${round(value / 1048576)} MiB` : `${round(value)} bytes`;
    case 'options':
    case 'inodes':
      return `${value} ${unit}`;
    case 'exponent':
      return value.toFixed(2);
    case 'ns':
      return value >= 1000 ? `${round(value / 1000)} µs` : `${round(value)} ns`;
    case 'ms':
      return `${round(value)} ms`;
  }
}

/** Three digits, or all that stand before the point. */
function round(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
  return value.toFixed(digits);
}
