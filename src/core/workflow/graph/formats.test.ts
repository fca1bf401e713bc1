import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { dotOf, linesOf, mermaidOf } from './formats.ts';
import type { Graph, GraphNode } from './graph.ts';

const node = (id: string, more: Partial<GraphNode> = {}) =>
  ({
    id,
    step: id,
    kind: 'tool',
    does: id,
    when: null,
    isForeach: false,
    isFinally: false,
    state: null,
    ...more,
  }) as GraphNode;

describe('a picture of a workflow', () => {
  it('has a box for the final steps only where there are any', () => {
    const plain = {
      name: 'n',
      nodes: [node('a'), node('b')],
      edges: [{ from: 'a', to: 'b' }],
    } as unknown as Graph;
    assert.equal(
      dotOf(plain),
      'digraph "n" {\n  node [fontname="sans-serif"];\n  a [shape=box, label="a"];\n  b [shape=box, label="b"];\n  a -> b;\n}\n',
    );
    assert.equal(mermaidOf(plain), 'flowchart TD\n  a["a"]\n  b["b"]\n  a --> b\n');
    const last = {
      ...plain,
      nodes: [node('a'), node('b', { isFinally: true })],
      edges: [],
    } as unknown as Graph;
    assert.equal(
      dotOf(last),
      'digraph "n" {\n  node [fontname="sans-serif"];\n  a [shape=box, label="a"];\n  subgraph cluster_finally {\n    label="finally";\n    b [shape=box, label="b"];\n  }\n}\n',
    );
    assert.equal(
      mermaidOf(last),
      'flowchart TD\n  a["a"]\n  subgraph finally_steps["finally"]\n    b["b"]\n  end\n',
    );
  });

  it('has a form for each kind, and the colours of each state', () => {
    const kinds = ['tool', 'decision', 'parallel', 'workflow', 'pipe'] as const;
    const nodes = kinds.map((kind, at) => node(kind, { kind, state: at === 0 ? 'failed' : null }));
    const graph = { name: 'n', nodes, edges: [] } as unknown as Graph;
    assert.deepEqual(
      dotOf(graph).match(/shape=\w+/g),
      ['box', 'diamond', 'box3d', 'component', 'cds'].map((shape) => `shape=${shape}`),
    );
    assert.ok(dotOf(graph).includes('style="filled", fillcolor="#ffe3e3", color="#c92a2a", class="failed"'));
    const mermaid = mermaidOf(graph);
    for (const part of [
      'tool["tool<br/>failed"]:::failed',
      'decision{"decision"}',
      'parallel[["parallel"]]',
      'workflow(["workflow"])',
      'pipe[/"pipe"/]',
    ])
      assert.ok(mermaid.includes(`  ${part}\n`), `${part} in ${mermaid}`);
    assert.ok(mermaid.endsWith('  classDef failed fill:#ffe3e3,stroke:#c92a2a\n'));
  });

  it('cuts lines of more than sixty letters, and says what a step does', () => {
    const letters = (count: number) => 'x'.repeat(count);
    assert.deepEqual(
      linesOf(node('a', { does: letters(60), when: '1', isForeach: true, state: 'running' })),
      ['a', letters(60), 'for each item', 'when 1', 'running'],
    );
    assert.deepEqual(linesOf(node('a', { does: letters(61) })), ['a', `${letters(59)}…`]);
  });

  it('takes nothing of a name for its own language', () => {
    const graph = {
      name: 'a"b\\c',
      nodes: [node('a', { step: 'x"\n<b>', does: 'x"\n<b>' })],
      edges: [],
    } as unknown as Graph;
    assert.ok(dotOf(graph).startsWith('digraph "a\\"b\\\\c" {'));
    assert.ok(dotOf(graph).includes('label="x\\"\ufffd<b>"'));
    assert.ok(mermaidOf(graph).includes('a["x#34;#10;#60;b#62;"]'));
  });
});
