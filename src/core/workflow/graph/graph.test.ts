import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { afterEach, describe, it } from 'node:test';
import { type ProjectFolder, projectFolder } from '../../../../test/support/project-folder.ts';
import { readWorkflow } from '../file/read-workflow.ts';
import { dotOf, mermaidOf } from './formats.ts';
import { type Graph, graphOf, type StepState, stepStates } from './graph.ts';

const FLOW = `steps:
  - { name: fetch, tool: fetcher }
  - { name: choose, type: ai_decision, decision_type: pick, when: "\${steps.fetch.ok}" }
  - { name: load all, needs: [fetch, choose, fetch], foreach: [1], tool: loader }
  - { name: both, needs: [], tasks: ["a", "b"] }
  - { name: sub, workflow: ./x.yaml }
  - { name: flow, pipe: ["a", "b"] }
finally:
  - { name: clean, tool: clean }
`;

/** What ends labels, begins comments, directives or scripts, or is a keyword, in one of the two languages. */
const WEAPONS = [
  '"]; evil["x',
  "'];'",
  '%%{init: {"securityLevel":"loose"}}%%',
  '<img src=x onerror=alert(1)>',
  '<script>',
  'click n0 call alert()',
  '#quot;',
  '`**md**`',
  '\\',
  '\\" , shape=egg',
  'end',
  '}} --> n0',
  '$$x$$',
  ':::failed',
];

describe('the picture of a workflow', () => {
  let folder: ProjectFolder;
  afterEach(() => folder?.remove());

  async function graph(text: string, states?: ReadonlyMap<string, StepState>): Promise<Graph> {
    folder?.remove();
    folder = projectFolder({ 'flow.yaml': text });
    const { workflow, problems } = await readWorkflow(folder.at('flow.yaml'));
    assert.deepEqual(problems, []);
    return graphOf(workflow!, states);
  }

  it('has each step, what it needs once, and what it does', async () => {
    const { nodes, edges } = await graph(FLOW);
    assert.deepEqual(
      nodes.map(({ id, does, when }) => [id, does, when]),
      [
        ['n0', 'fetcher', null],
        ['n1', 'decide: pick', 'steps.fetch.ok'],
        ['n2', 'loader', null],
        ['n3', '2 at once', null],
        ['n4', 'workflow: x.yaml', null],
        ['n5', 'a | b', null],
        ['n6', 'clean', null],
      ],
    );
    assert.deepEqual(
      edges.map(({ from, to }) => `${from} ${to}`),
      ['n0 n1', 'n0 n2', 'n1 n2', 'n3 n4', 'n4 n5'],
    );
  });

  it('is a Mermaid flowchart and a DOT graph, coloured by states', async () => {
    const drawn = await graph(
      FLOW,
      new Map([
        ['fetch', 'completed'],
        ['load all', 'failed'],
      ]),
    );
    const mermaid = mermaidOf(drawn);
    assertMermaid(mermaid);
    assert.match(mermaid, /^ {2}n0\["fetch<br\/>fetcher<br\/>completed"\]:::completed$/m);
    assert.match(mermaid, /^ {2}classDef failed fill:#ffe3e3,stroke:#c92a2a$/m);
    assert.match(mermaid, /subgraph finally_steps\["finally"\]\n {4}n6\["clean"\]\n {2}end/);
    const dot = dotOf(drawn);
    assertDot(dot);
    assert.match(dot, /n2 \[shape=box, label="load all\\nloader\\nfor each item\\nfailed", style="filled"/);
    assert.doesNotMatch(mermaidOf(await graph(FLOW)), /classDef|:::/);
  });

  it('stays a picture whatever the steps and tools are called', async () => {
    const steps = WEAPONS.flatMap((weapon, index) => [
      { name: `${index} ${weapon}`, tool: weapon },
      {
        name: `w${index}`,
        type: 'ai_decision',
        decision_type: weapon,
        when: `\${${JSON.stringify(weapon)} == "x"}`,
      },
    ]);
    const drawn = await graph(JSON.stringify({ steps }), new Map());
    assert.equal(drawn.nodes.length, WEAPONS.length * 2);
    assertMermaid(mermaidOf(drawn));
    assertDot(dotOf(drawn));
  });

  it('cuts long texts and shows no control characters', async () => {
    const drawn = await graph(
      JSON.stringify({ steps: [{ name: 'a', tool: `x${'y'.repeat(500)}\u001b[31m` }] }),
    );
    assert.ok(mermaidOf(drawn).length < 200);
    const red = await graph(JSON.stringify({ steps: [{ name: 'a', tool: 'x\u001b[31m\u202ey' }] }));
    for (const text of [mermaidOf(red), dotOf(red)]) assert.doesNotMatch(text, /[\u001b\u202e]/);
  });

  it('takes the states from the events of a run', async () => {
    const events = [
      { type: 'task_submitted', task_id: 'fetch' },
      { type: 'task_started', task_id: 'fetch' },
      { type: 'task_done', task_id: 'fetch', status: 'ok' },
      { type: 'task_submitted', task_id: 'choose' },
      { type: 'task_done', task_id: 'load all[0]', status: 'ok' },
      { type: 'task_done', task_id: 'load all[1]', status: 'failed' },
      { type: 'task_started', task_id: 'both.0' },
      { type: 'task_action_required', task_id: 'both.0' },
      { type: 'task_done', task_id: 'both.1', status: 'failed' },
      { type: 'task_done', task_id: 'sub', status: 'skipped' },
      { type: 'task_submitted', task_id: 'a%2eb' },
      { type: 'progress', task_id: 5 },
    ];
    const states = await stepStates(
      (async function* () {
        yield* events;
      })(),
    );
    assert.deepEqual(Object.fromEntries(states), {
      fetch: 'completed',
      choose: 'queued',
      'load all': 'failed',
      both: 'waiting',
      sub: 'skipped',
      'a.b': 'queued',
    });
    const { nodes } = await graph(FLOW, states);
    assert.deepEqual(
      nodes.map(({ state }) => state),
      ['completed', 'waiting', 'failed', 'waiting', 'skipped', null, null],
    );
  });
});

/** Each line is one that a flowchart may have; within labels stand harmless signs and entities only. */
function assertMermaid(text: string): void {
  const label = '"(?:[\\p{L}\\p{N} _.,:|()+…-]|#\\d+;|<br/>)*"';
  const node = `n\\d+(?:\\[${label}\\]|\\{${label}\\}|\\[\\[${label}\\]\\]|\\(\\[${label}\\]\\)|\\[/${label}/\\])(?::::[a-z]+)?`;
  const line = new RegExp(
    `^(?:flowchart TD| {2,4}${node}| {2}n\\d+ --> n\\d+| {2}subgraph finally_steps\\["finally"\\]| {2}end| {2}classDef [a-z]+ fill:#[0-9a-f]{6},stroke:#[0-9a-f]{6})$`,
    'u',
  );
  for (const each of text.trimEnd().split('\n')) assert.match(each, line);
}

/** By Graphviz itself where it is installed; else each line is one that a graph may have. */
function assertDot(text: string): void {
  const { error, status, stderr } = spawnSync('dot', ['-Tcanon'], { input: text, encoding: 'utf8' });
  if (error === undefined) assert.equal(status, 0, stderr);
  const label = '"(?:[^"\\\\\\n]|\\\\["\\\\n])*"';
  const line = new RegExp(
    `^(?:digraph ${label} \\{|\\}| {2}\\}| {2}node \\[fontname="sans-serif"\\];| {2}subgraph cluster_finally \\{| {4}label="finally";| {2,4}n\\d+ \\[shape=\\w+, label=${label}(?:, style="filled", fillcolor="#\\w{6}", color="#\\w{6}", class="\\w+")?\\];| {2}n\\d+ -> n\\d+;)$`,
  );
  for (const each of text.trimEnd().split('\n')) assert.match(each, line);
}
