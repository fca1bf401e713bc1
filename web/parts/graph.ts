import { html } from 'htm/preact';
import type { OperationTypes } from '../../src/client/index.ts';
import { plain } from './plain-text.ts';

type GraphData = OperationTypes['workflow.graph']['data'];
type Node = GraphData['nodes'][number];

const WIDTH = 170;
const HEIGHT = 44;
const GAP_X = 50;
const GAP_Y = 20;
const MAX_CHARS = 20;

/** Steps from left to right, each behind those that it needs. */
export function Graph({ nodes, edges }: Pick<GraphData, 'nodes' | 'edges'>) {
  const places = placesOf(nodes, edges);
  const width = Math.max(...[...places.values()].map(({ x }) => x + WIDTH), 0);
  const height = Math.max(...[...places.values()].map(({ y }) => y + HEIGHT), 0);
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Graph">
    <svg class="graph" role="img" aria-label="The steps, which the list below has too" viewBox=${`-2 -2 ${width + 4} ${height + 4}`} width=${width} height=${height}>
      ${edges.map(({ from, to }) => {
        const [a, b] = [places.get(from), places.get(to)];
        if (a === undefined || b === undefined) return null;
        const [x1, y1, x2, y2] = [a.x + WIDTH, a.y + HEIGHT / 2, b.x, b.y + HEIGHT / 2];
        return html`<path key=${`${from} ${to}`} d=${`M${x1},${y1} C${x1 + GAP_X / 2},${y1} ${x2 - GAP_X / 2},${y2} ${x2},${y2}`} />`;
      })}
      ${nodes.map(({ id, step, state }) => {
        const { x, y } = places.get(id)!;
        const name = plain(step);
        return html`<g key=${id} class=${`step step-${state ?? 'none'}`} transform=${`translate(${x},${y})`}>
          <title>${name}</title>
          <rect width=${WIDTH} height=${HEIGHT} rx="6" />
          <text x="10" y="19">${name.length > MAX_CHARS ? `${name.slice(0, MAX_CHARS)}…` : name}</text>
          <text x="10" y="35" class="small">${state ?? ''}</text>
        </g>`;
      })}
    </svg>
  </div>`;
}

/** The column of a step is the longest way to it; a workflow has no cycles. */
function placesOf(nodes: readonly Node[], edges: GraphData['edges']): Map<string, { x: number; y: number }> {
  const columns = new Map<string, number>();
  const columnOf = (id: string): number => {
    const known = columns.get(id);
    if (known !== undefined) return known;
    columns.set(id, 0);
    const needed = edges.filter(({ to }) => to === id).map(({ from }) => columnOf(from) + 1);
    const column = Math.max(0, ...needed);
    columns.set(id, column);
    return column;
  };
  const rows = new Map<number, number>();
  return new Map(
    nodes.map(({ id }) => {
      const column = columnOf(id);
      const row = rows.get(column) ?? 0;
      rows.set(column, row + 1);
      return [id, { x: column * (WIDTH + GAP_X), y: row * (HEIGHT + GAP_Y) }];
    }),
  );
}
