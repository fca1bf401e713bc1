import type { Graph, GraphNode } from './graph-of.ts';
import { COLOURS, linesOf } from './looks.ts';

/** Renders the graph in Graphviz DOT. */
export function dotOf({ name, nodes, edges }: Graph): string {
  const last = nodes.filter(({ isFinally }) => isFinally);
  return `${[
    `digraph ${quoted(name)} {`,
    '  node [fontname="sans-serif"];',
    ...nodes.filter(({ isFinally }) => !isFinally).map((node) => `  ${nodeOf(node)}`),
    ...(last.length > 0
      ? [
          '  subgraph cluster_finally {',
          '    label="finally";',
          ...last.map((node) => `    ${nodeOf(node)}`),
          '  }',
        ]
      : []),
    ...edges.map(({ from, to }) => `  ${from} -> ${to};`),
    '}',
  ].join('\n')}\n`;
}

const SHAPES: Readonly<Record<GraphNode['kind'], string>> = {
  tool: 'box',
  decision: 'diamond',
  parallel: 'box3d',
  workflow: 'component',
  pipe: 'cds',
};

function nodeOf(node: GraphNode): string {
  const { id, kind, state } = node;
  const colours =
    state === null
      ? ''
      : `, style="filled", fillcolor="${COLOURS[state].fill}", color="${COLOURS[state].stroke}", class="${state}"`;
  const label = linesOf(node).map(escaped).join('\\n');
  return `${id} [shape=${SHAPES[kind]}, label="${label}"${colours}];`;
}

function quoted(text: string): string {
  return `"${escaped(text)}"`;
}

/** A backslash starts an escape in DOT; control characters are removed. */
function escaped(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd').replace(/["\\]/g, '\\$&');
}
