import type { Graph, GraphNode, StepState } from './graph.ts';

/** Renders the graph in Graphviz DOT. */
export function dotOf({ name, nodes, edges }: Graph): string {
  const last = nodes.filter(({ isFinally }) => isFinally);
  return `${[
    `digraph ${quoted(name)} {`,
    '  node [fontname="sans-serif"];',
    ...nodes.filter(({ isFinally }) => !isFinally).map((node) => `  ${dotNode(node)}`),
    ...(last.length > 0
      ? [
          '  subgraph cluster_finally {',
          '    label="finally";',
          ...last.map((node) => `    ${dotNode(node)}`),
          '  }',
        ]
      : []),
    ...edges.map(({ from, to }) => `  ${from} -> ${to};`),
    '}',
  ].join('\n')}\n`;
}

const DOT_SHAPES: Readonly<Record<GraphNode['kind'], string>> = {
  tool: 'box',
  decision: 'diamond',
  parallel: 'box3d',
  workflow: 'component',
  pipe: 'cds',
};

function dotNode(node: GraphNode): string {
  const { id, kind, state } = node;
  const colours =
    state === null
      ? ''
      : `, style="filled", fillcolor="${COLOURS[state].fill}", color="${COLOURS[state].stroke}", class="${state}"`;
  const label = linesOf(node).map(dotText).join('\\n');
  return `${id} [shape=${DOT_SHAPES[kind]}, label="${label}"${colours}];`;
}

function quoted(text: string): string {
  return `"${dotText(text)}"`;
}

/** A backslash starts an escape in DOT; control characters are removed. */
function dotText(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\ufffd').replace(/["\\]/g, '\\$&');
}

/** Fill and border colour of each state. */
const COLOURS: Readonly<Record<StepState, { fill: string; stroke: string }>> = {
  queued: { fill: '#f1f3f5', stroke: '#868e96' },
  running: { fill: '#d0ebff', stroke: '#1971c2' },
  waiting: { fill: '#fff3bf', stroke: '#e67700' },
  completed: { fill: '#d3f9d8', stroke: '#2b8a3e' },
  failed: { fill: '#ffe3e3', stroke: '#c92a2a' },
  cancelled: { fill: '#e9ecef', stroke: '#495057' },
  skipped: { fill: '#ffffff', stroke: '#adb5bd' },
};

/** Longer lines make the graph unreadable. */
const LONGEST_LINE = 60;

/** The lines of text in a node. */
export function linesOf({ step, does, when, isForeach, state }: GraphNode): string[] {
  return [
    step,
    ...(does === step ? [] : [does]),
    ...(isForeach ? ['for each item'] : []),
    ...(when === null ? [] : [`when ${when}`]),
    ...(state === null ? [] : [state]),
  ].map((line) => {
    const chars = [...line];
    return chars.length > LONGEST_LINE ? `${chars.slice(0, LONGEST_LINE - 1).join('')}…` : line;
  });
}

/** Renders the graph as a Mermaid flowchart. */
export function mermaidOf({ nodes, edges }: Graph): string {
  const last = nodes.filter(({ isFinally }) => isFinally);
  const states = [...new Set(nodes.map(({ state }) => state))].filter((state) => state !== null);
  return `${[
    'flowchart TD',
    ...nodes.filter(({ isFinally }) => !isFinally).map((node) => `  ${mermaidNode(node)}`),
    ...(last.length > 0
      ? ['  subgraph finally_steps["finally"]', ...last.map((node) => `    ${mermaidNode(node)}`), '  end']
      : []),
    ...edges.map(({ from, to }) => `  ${from} --> ${to}`),
    ...states.map(
      (state) => `  classDef ${state} fill:${COLOURS[state].fill},stroke:${COLOURS[state].stroke}`,
    ),
  ].join('\n')}\n`;
}

const MERMAID_SHAPES: Readonly<Record<GraphNode['kind'], readonly [string, string]>> = {
  tool: ['[', ']'],
  decision: ['{', '}'],
  parallel: ['[[', ']]'],
  workflow: ['([', '])'],
  pipe: ['[/', '/]'],
};

function mermaidNode(node: GraphNode): string {
  const [open, close] = MERMAID_SHAPES[node.kind];
  const label = linesOf(node).map(mermaidText).join('<br/>');
  return `${node.id}${open}"${label}"${close}${node.state === null ? '' : `:::${node.state}`}`;
}

/** Escapes everything except letters, digits and harmless characters: names and commands are untrusted input. */
function mermaidText(text: string): string {
  return text.replace(/[^\p{L}\p{N} _.,:|()+-]/gu, (char) => `#${char.codePointAt(0)};`);
}
