import assert from 'node:assert/strict';
import { afterEach, describe, it } from 'node:test';
import { type ProjectFolder, projectFolder } from '../../../../test/support/project-folder.ts';
import { MAX_WORKFLOW_BYTES, WORKFLOW_NAME } from '../../../protocol/workflow-file.ts';
import { evaluate, type Scope } from '../expression/expression.ts';
import type { Step, StepArguments, Workflow } from '../model.ts';
import { readWorkflow } from './read-workflow.ts';

/** As seed 000's orchestrator reads it: names are any text, and the commands are split as by a shell. */
const OF_SEED = {
  steps: [
    { name: 'Extract data (1/3)', type: 'tool', command: `extract --query "a 'b' c" --out 'x y' z\\ w ""` },
    { name: 'choose.strategy', type: 'ai_decision', decision_type: 'pick', instruction: 'Which one?' },
    { name: 'größe[2]', type: 'parallel', max_concurrency: 2, tasks: ['load --n 1', 'load --n 2'] },
  ],
};

const SCOPE: Scope = { inputs: { n: 5 }, steps: {}, workflow: { run_id: 'r', ok: true } };

describe('a workflow file', () => {
  let folder: ProjectFolder;
  afterEach(() => folder?.remove());

  async function read(text: string, name = 'flow.yaml') {
    folder?.remove();
    folder = projectFolder({ [name]: text });
    return readWorkflow(folder.at(name));
  }

  async function workflowOf(text: string, name?: string): Promise<Workflow> {
    const { workflow, problems } = await read(text, name);
    assert.deepEqual(problems, []);
    return workflow!;
  }

  const rulesOf = async (text: string) =>
    (await read(text)).problems.map(({ line, column, rule }) => `${line}:${column} ${rule}`);

  for (const [form, text] of [
    ['JSON', JSON.stringify(OF_SEED)],
    ['JSON with tabs', JSON.stringify(OF_SEED, null, '\t')],
  ] as const) {
    it(`of the design is read unchanged, as ${form}`, async () => {
      const { name, steps, maxConcurrency } = await workflowOf(text, 'my flow.json');
      const [extract, choose, load] = steps;
      assert.deepEqual([name, maxConcurrency], ['my-flow-6ac2a1b1', 4]);
      assert.deepEqual(wordsOf(extract!), ['--query', "a 'b' c", '--out', 'x y', 'z w', '']);
      assert.deepEqual(choose?.kind === 'decision' && [choose.action, choose.options, choose.default], [
        'pick',
        [],
        undefined,
      ]);
      assert.deepEqual(
        load?.kind === 'parallel' && load.tasks.map((task) => [task.name, task.kind, wordsOf(task)]),
        [
          ['0', 'tool', ['--n', '1']],
          ['1', 'tool', ['--n', '2']],
        ],
      );
      assert.deepEqual(
        steps.map(({ needs }) => needs),
        [[], ['Extract data (1/3)'], ['choose.strategy']],
      );
    });
  }

  it('has the name of its file, and never that of another file whose name differs', async () => {
    const long = 'x'.repeat(64);
    const files = ['日本', '中国', 'ä b', 'b', 'a b', 'a-b', 'a  b', '.b', `${long}1`, `${long}2`, long];
    const names: string[] = [];
    for (const file of files)
      names.push((await workflowOf('steps: [{ name: a, tool: t }]', `${file}.yaml`)).name);
    assert.equal(new Set(names).size, files.length);
    assert.deepEqual(
      names.filter((name) => !WORKFLOW_NAME.test(name)),
      [],
    );
    assert.match(names.slice(0, 3).join(' '), /^workflow-[0-9a-f]{8} workflow-[0-9a-f]{8} b-83ec61e9$/);
    assert.deepEqual([names[3], names[5], names.at(-1)], ['b', 'a-b', long], 'the control');
  });

  it('settles what it leaves open', async () => {
    const {
      steps,
      finally: last,
      ...rest
    } = await workflowOf(
      'on_error: continue\nsteps:\n  - { name: a, tool: x }\n  - { name: b, tool: x, needs: [] }\n' +
        '  - { name: c, tool: x, foreach: [1, 2], on_error: ask, retry: { max: 2 } }\nfinally:\n  - { name: d, tool: x }\n  - { name: e, tool: x }\n',
    );
    assert.deepEqual(
      [...steps, ...last].map(({ name, needs, onError }) => [name, needs, onError]),
      [
        ['a', [], 'continue'],
        ['b', [], 'continue'],
        ['c', ['b'], 'ask'],
        ['d', [], 'continue'],
        ['e', ['d'], 'continue'],
      ],
    );
    assert.deepEqual(steps[2]?.retry, { max: 2, on: ['retryable'], backoffS: 1 });
    assert.equal(steps[2]?.foreach?.maxItems, 1000);
    assert.deepEqual([rest.name, rest.inputs, rest.outputs, rest.timeoutS], ['flow', [], {}, undefined]);
    assert.match(rest.digest, /^[0-9a-f]{64}$/);
  });

  it('puts expressions into words, never words into expressions', async () => {
    const { steps } = await workflowOf(
      'inputs: { n: {} }\nsteps:\n' +
        `  - { name: a, command: 'x --a=\${inputs["n"]} "b \${inputs["n"]} c" \\\${inputs.n} $\${d e} "\${[1,2].map(x, x + 1)}" f' }\n`,
    );
    assert.deepEqual(wordsOf(steps[0]!), ['--a=5', 'b 5 c', '${inputs.n}', '${d', 'e}', [2, 3], 'f']);
  });

  it('finds other workflows beside it, by path and by name', async () => {
    const text =
      'steps:\n  - { name: a, workflow: ./sub/x.yaml }\n  - { name: b, workflow: other }\n  - { name: c, workflow: far }\n';
    folder = projectFolder({ 'own/flow.yaml': text, 'own/other.json': '', 'all/far.yml': '' });
    const { workflow } = await readWorkflow(folder.at('own/flow.yaml'), { folders: [folder.at('all')] });
    assert.deepEqual(
      workflow?.steps.map((step) => step.kind === 'workflow' && step.file),
      ['own/sub/x.yaml', 'own/other.json', 'all/far.yml'].map((path) => folder.at(path)),
    );
  });

  it('takes no other workflow by a name that several files have, and says by which paths', async () => {
    const text = 'steps:\n  - { name: a, workflow: twice }\n  - { name: b, tasks: [{ workflow: both }] }\n';
    const files = { 'own/twice.json': '', 'own/twice.yaml': '', 'one/both.yml': '', 'two/both.yml': '' };
    folder = projectFolder({ 'own/flow.yaml': text, ...files, 'one/twice.yaml': '' });
    const { problems } = await readWorkflow(folder.at('own/flow.yaml'), {
      folders: [folder.at('one'), folder.at('two')],
    });
    const shown = problems.map(({ line, rule, message, fix }) => `${line} ${rule} ${message} | ${fix}`);
    assert.deepEqual(
      shown.map((each) => each.replaceAll(folder.root, '<root>')),
      [
        "2 workflow-name more than one workflow has the name 'twice': <root>/own/twice.yaml, <root>/own/twice.json | Write the path of the one that you mean: twice.yaml or twice.json.",
        "3 workflow-name more than one workflow has the name 'both': <root>/one/both.yml, <root>/two/both.yml | Write the path of the one that you mean: ../one/both.yml or ../two/both.yml.",
      ],
    );
    folder.write('own/flow.yaml', text.replace('twice', 'twice.json').replace('both', '../two/both.yml'));
    const { workflow } = await readWorkflow(folder.at('own/flow.yaml'));
    assert.equal(workflow?.steps.length, 2, 'as the fixes say');
  });

  it('knows what other systems call a key, where it has a key for it', async () => {
    folder = projectFolder({ 'w.yaml': 'steps:\n  - { id: a, uses: x, if: "1" }\n' });
    const { problems } = await readWorkflow(folder.at('w.yaml'), { folders: [] });
    assert.deepEqual(
      problems.filter(({ rule }) => rule === 'unknown-key').map(({ fix }) => fix),
      ['name', 'tool', 'when'].map((key) => `Write '${key}', or leave it out.`),
    );
  });

  it('reports all problems of the file at once, each with its place', async () => {
    assert.deepEqual(
      await rulesOf(
        [
          'nmae: x',
          'inputs:',
          '  n: { type: int, default: "x" }',
          'steps:',
          '  - { name: "a\\tb", tool: x }',
          '  - { name: b, tool: x, argss: {} }',
          '  - { name: c, tool: x, when: 1 }',
          '  - { name: __proto__, tool: x }',
          '  - { tool: x, foreach: 5, max_items: 10001 }',
        ].join('\n'),
      ),
      [
        '1:1 unknown-key',
        '3:28 default-type',
        '5:13 format',
        '6:25 unknown-key',
        '7:31 format',
        '8:13 format',
        '9:5 missing',
        '9:25 format',
        '9:39 bounds',
      ],
    );
    assert.deepEqual(
      await rulesOf(
        [
          'inputs: { key: { secret: true } }',
          'steps:',
          '  - { name: a }',
          '  - { name: b, tool: x, pipe: [y, z] }',
          '  - { name: c, type: ai_decision, command: x }',
          '  - { name: d, tool: x, options: [{ id: a }] }',
          '  - { name: e, command: "x \'y" }',
          '  - { name: f, command: "${inputs.x} y" }',
          '  - { name: g, command: x, args: [y] }',
          '  - { name: h, tool: x, max_items: 3 }',
          '  - { name: i, tasks: ["a", { tool: b, needs: [a] }, { tool: c, argss: 1 }] }',
          '  - { name: j, tool: x, args: { n: "${1 +}" } }',
        ].join('\n'),
      ),
      [
        '3:5 what-a-step-does',
        '4:5 what-a-step-does',
        '5:5 what-a-step-does',
        '6:34 what-a-step-does',
        '7:25 command',
        '8:25 command',
        '9:25 what-a-step-does',
        '10:25 key-without-use',
        '11:29 task-is-no-step',
        '11:65 unknown-key',
        '12:36 expression',
        '1:26 secret-input',
      ],
    );
  });

  it('is fixed by words that name the keys, not a page that the project lacks', async () => {
    const { problems } = await read(
      [
        'steps:',
        '  - { name: a }',
        '  - { name: b, tool: x, pipe: [y, z] }',
        '  - { name: c, tool: x, options: [{ id: a }] }',
        '  - { name: d, command: "x \'y" }',
        '  - { name: e, command: "x ${y" }',
        '  - { name: f, command: " " }',
        '  - { name: g, command: "${inputs.x} y" }',
        '  - { name: h, command: x, args: [y] }',
      ].join('\n'),
    );
    assert.deepEqual(
      problems.map(({ line, fix }) => `${line}: ${fix}`),
      [
        '2: Add one of them, such as tool.',
        '3: Keep one of them, and make a step of each other one.',
        "4: Remove 'options', or move it to another step.",
        '5: Add the closing quote.',
        '6: Add the } that ends the expression; write $${ for the characters themselves.',
        '7: Write the name of a tool and its arguments.',
        '8: Write the name of the tool itself; its arguments may be expressions.',
        "9: Remove 'command', or remove 'tool' and 'args'.",
      ],
    );
  });

  it('names the key that a type needs', async () => {
    const { problems } = await read('steps:\n  - { name: a, type: ai_decision, instruction: x }\n');
    assert.deepEqual(
      [problems[0]?.message, problems[0]?.fix],
      ["a step of type ai_decision must have 'decision_type', and no other work", "Add 'decision_type'."],
    );
  });

  it('names the nearest key', async () => {
    const { problems } = await read('steps:\n  - { name: a, tool: x, timeout: 5 }\n');
    assert.match(String(problems[0]?.message), /did you mean 'timeout_s'\?/);
  });

  it('cannot fill the memory by a few lines', async () => {
    const lines = Array.from(
      { length: 20 },
      (_, n) => `  b${n}: &b${n} [${n === 0 ? '1' : `*b${n - 1}, *b${n - 1}, *b${n - 1}`}]`,
    );
    assert.deepEqual(await rulesOf(`outputs:\n${lines.join('\n')}\nsteps: [{ name: a, tool: x }]\n`), [
      '1:1 aliases',
    ]);
    assert.deepEqual(await rulesOf(`outputs: ${'['.repeat(20_000)}`), ['1:1 too-deep']);
  });

  it('names the place of each word of the arguments in which an expression is wrong', async () => {
    const steps = [
      'steps:',
      '  - name: a',
      '    tool: x',
      '    args:',
      '      - fine',
      '      - "${nosuch("',
      '  - name: b',
      '    tool: x',
      '    args: { key: "${nosuch(" }',
    ];
    const places = (await rulesOf(steps.join('\n'))).map((each) => each.split(' ')[0]!.split(':')[0]);
    assert.deepEqual(places, ['6', '9']);
  });

  it('has its limits in bytes and in steps', async () => {
    // As many as are allowed are read in the test of the checks.
    const steps = (count: number, more = '') =>
      Array.from({ length: count }, (_, n) => `{"name":"s${n}","tool":"x","description":"${more}"}`).join(
        ',',
      );
    assert.deepEqual(await rulesOf(`{"steps":[${steps(10_001)}]}`), ['1:2 too-many-steps']);
    assert.deepEqual(await rulesOf(`{"steps":[${steps(1, 'x'.repeat(MAX_WORKFLOW_BYTES))}]}`), ['1:1 size']);
  });
});

function wordsOf(step: Step | { kind: string; args?: StepArguments }): unknown[] {
  const args = 'args' in step ? step.args : undefined;
  return args?.form === 'words' ? args.words.map((word) => evaluate(word, SCOPE)) : [];
}
