import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What something costs at several sizes. */
export interface Curve {
  name: string;
  points: readonly (readonly [size: number, cost: number])[];
}

/** Curves over the same sizes, drawn as one picture. */
export interface Plot {
  /** The name of the file, without its extension. */
  file: string;
  title: string;
  /** What the sizes count. */
  sizes: string;
  costs: string;
  curves: readonly Curve[];
}

const WIDTH = 760;
const HEIGHT = 420;
const FRAME = { left: 70, right: 500, top: 50, bottom: 360 };
const COLOURS = ['#1f6feb', '#d1242f', '#1a7f37', '#8250df', '#9a6700', '#0550ae', '#57606a'];

/**
 * The exponent of a curve's growth: 0 for a cost that is the same at every size, 1 for one that grows as the size does. It is the slope of the
 * line that fits the points best in a picture with two logarithmic axes.
 */
export function slopeOf({ points }: Curve): number {
  const logs = points.map(([size, cost]) => [Math.log(size), Math.log(cost)] as const);
  const mean = (index: 0 | 1) => logs.reduce((sum, point) => sum + point[index], 0) / logs.length;
  const [x, y] = [mean(0), mean(1)];
  const over = logs.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0);
  return over / logs.reduce((sum, point) => sum + (point[0] - x) ** 2, 0);
}

/** Writes a plot as an SVG file with two logarithmic axes. */
export function writePlot(folder: string, plot: Plot): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${plot.file}.svg`), svgOf(plot));
}

function svgOf({ title, sizes, costs, curves }: Plot): string {
  const points = curves.flatMap((curve) => curve.points);
  const x = scaleOf(
    points.map(([size]) => size),
    FRAME.left,
    FRAME.right,
  );
  const y = scaleOf(
    points.map(([, cost]) => cost),
    FRAME.bottom,
    FRAME.top,
  );
  const { left, right, top, bottom } = FRAME;
  const grid = [
    ...x.ticks.map(
      (tick) =>
        `${lineFrom(x.at(tick), top, x.at(tick), bottom)}${text(x.at(tick), bottom + 18, nameOf(tick), 'middle')}`,
    ),
    ...y.ticks.map(
      (tick) =>
        `${lineFrom(left, y.at(tick), right, y.at(tick))}${text(left - 8, y.at(tick) + 4, nameOf(tick), 'end')}`,
    ),
  ];
  const drawn = curves.map((curve, index) => {
    const colour = COLOURS[index % COLOURS.length]!;
    const places = curve.points.map(([size, cost]) => [x.at(size), y.at(cost)] as const);
    const dots = places
      .map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3.5" fill="${colour}"/>`)
      .join('');
    const path = `<polyline fill="none" stroke="${colour}" stroke-width="2" points="${places.map((place) => place.join(',')).join(' ')}"/>`;
    const at = top + 14 + index * 20;
    const key = `<rect x="${right + 20}" y="${at - 9}" width="10" height="10" fill="${colour}"/>`;
    return `${path}${dots}${key}${text(right + 36, at, `${curve.name}: ${slopeOf(curve).toFixed(2).replace('-0.00', '0.00')}`, 'start')}`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<title>${escaped(title)}</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#ffffff"/>`,
    `<text x="${left}" y="28" font-size="15" font-weight="bold">${escaped(title)}</text>`,
    ...grid,
    ...drawn,
    text((left + right) / 2, bottom + 40, sizes, 'middle'),
    `<text x="18" y="${(top + bottom) / 2}" text-anchor="middle" transform="rotate(-90 18 ${(top + bottom) / 2})">${escaped(costs)}</text>`,
    '</svg>',
    '',
  ].join('\n');
}

/** A logarithmic axis over whole powers of ten, from one place in the picture to another. */
function scaleOf(
  values: readonly number[],
  from: number,
  to: number,
): { ticks: number[]; at(value: number): number } {
  const first = Math.floor(Math.log10(Math.min(...values)));
  const last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(...values))));
  return {
    ticks: Array.from({ length: last - first + 1 }, (_, index) => 10 ** (first + index)),
    at: (value) =>
      Math.round((from + ((Math.log10(value) - first) / (last - first)) * (to - from)) * 10) / 10,
  };
}

function lineFrom(x1: number, y1: number, x2: number, y2: number): string {
  return `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="#d0d7de"/>`;
}

function text(x: number, y: number, content: string, anchor: 'start' | 'middle' | 'end'): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}">${escaped(content)}</text>`;
}

function escaped(content: string): string {
  return content.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

function nameOf(value: number): string {
  if (value >= 1e6) return `${value / 1e6} M`;
  return value >= 1 ? value.toLocaleString('en-US') : String(Number(value.toPrecision(1)));
}
