import type { Graph, GraphNode } from './graph-of.ts';
import { COLOURS, linesOf } from './looks.ts';

/** Renders the graph as a Mermaid flowchart. */
export function mermaidOf({ nodes, edges }: Graph): string {
  const last = nodes.filter(({ isFinally }) => isFinally);
  const states = [...new Set(nodes.map(({ state }) => state))].filter((state) => state !== null);
  return `${[
    'flowchart TD',
    ...nodes.filter(({ isFinally }) => !isFinally).map((node) => `  ${nodeOf(node)}`),
    ...(last.length > 0
      ? ['  subgraph finally_steps["finally"]', ...last.map((node) => `    ${nodeOf(node)}`), '  end']
      : []),
    ...edges.map(({ from, to }) => `  ${from} --> ${to}`),
    ...states.map(
      (state) => `  classDef ${state} fill:${COLOURS[state].fill},stroke:${COLOURS[state].stroke}`,
    ),
  ].join('\n')}\n`;
}

const SHAPES: Readonly<Record<GraphNode['kind'], readonly [string, string]>> = {
  tool: ['[', ']'],
  decision: ['{', '}'],
  parallel: ['[[', ']]'],
  workflow: ['([', '])'],
  pipe: ['[/', '/]'],
};

function nodeOf(node: GraphNode): string {
  const [open, close] = SHAPES[node.kind];
  const label = linesOf(node).map(escaped).join('<br/>');
  return `${node.id}${open}"${label}"${close}${node.state === null ? '' : `:::${node.state}`}`;
}

/** Escapes everything except letters, digits and harmless characters: names and commands are untrusted input. */
function escaped(text: string): string {
  return text.replace(/[^\p{L}\p{N} _.,:|()+-]/gu, (char) => `#${char.codePointAt(0)};`);
}
