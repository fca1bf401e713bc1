import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { type ProjectFolder, projectFolder } from '../../../../test/support/project-folder.ts';
import { RULES } from '../../authoring/validation/rules.ts';
import { loadConfig } from '../../config/load.ts';
import type { Problem } from '../../config/problem.ts';
import { Registry } from '../../registry/registry.ts';
import { inspectWorkflow, loadWorkflow, surroundingsOf } from '../inspect-workflow.ts';
import { WARNING_RULES } from './check-workflow.ts';

const LOADER = `name: loader
version: 1.0.0
inputs:
  - { name: row, type: int, required: true }
  - { name: mode, enum: [fast, slow] }
  - { name: rows, type: int, multiple: true }
  - { name: in, type: path, access: read }
  - { name: out, type: path, access: write }
`;

describe('the checks of a workflow', () => {
  let folder: ProjectFolder;
  afterEach(() => folder?.remove());

  async function project(files: Readonly<Record<string, string>> = {}) {
    folder?.remove();
    folder = projectFolder({
      '.acor/config.yaml': 'version: 1\n',
      'tools/loader/tool.yaml': LOADER,
      'tools/reader/tool.yaml': 'name: reader\nversion: 1.0.0\nstdin: records\n',
      ...files,
    });
    folder.program('tools/loader/cli.sh', '#!/bin/bash\n');
    folder.program('tools/free/cli.sh', '#!/bin/bash\n');
    folder.program('tools/reader/cli.sh', '#!/bin/bash\n');
    const config = await loadConfig({ cwd: folder.root, env: {} });
    return { config, registry: Registry.open(config), cwd: folder.root };
  }

  async function found(text: string, files: Readonly<Record<string, string>> = {}) {
    const services = await project({ 'flow.yaml': text, ...files });
    return inspectWorkflow(folder.at('flow.yaml'), await surroundingsOf(services));
  }

  const brief = ({ line, column, rule }: Problem) => `${line}:${column} ${rule}`;

  async function errorsOf(steps: readonly string[], files?: Readonly<Record<string, string>>) {
    const { errors } = await found(['steps:', ...steps.map((step) => `  - ${step}`)].join('\n'), files);
    return errors;
  }

  const rulesOf = async (...args: Parameters<typeof errorsOf>) => (await errorsOf(...args)).map(brief);

  it('find nothing wrong with one that holds', async () => {
    const text = [
      'inputs: { n: { type: int, required: true }, names: { type: json, default: [] } }',
      'steps:',
      '  - { name: a, command: "loader --row ${inputs.n} --mode fast" }',
      '  - { name: b b, needs: [], tool: free, args: [x, "${inputs.names}"] }',
      '  - { name: c, needs: [a, b b], foreach: "${steps.a.data.rows}", tool: loader, args: { row: "${item.id}", mode: null, rows: [1, "${index}"] } }',
      '  - { name: d, type: ai_decision, decision_type: pick, options: [{ id: x }], default: x, context: { n: "${steps.c.count}" } }',
      "  - { name: e, when: \"${steps.d.answer == 'x' && steps['b b'].ok}\", needs: [d, b b], workflow: sub, inputs: { out: later.txt } }",
      '  - { name: f, retry: { max: 1, on: [retryable, E_TIMEOUT, E_OWN] }, pipe: ["loader --row 1", "reader"] }',
      'finally: [{ name: g, tool: free, args: ["${workflow.ok}", "${steps.a.state}"] }, { name: h, tool: free, args: ["${steps.g.ok}"] }]',
      'outputs: { rows: "${steps.c.data}", last: "${steps.h.ok}" }',
    ].join('\n');
    const own = 'version: 1\ncodes: { E_OWN: { class: retryable, retryable: true } }\n';
    const { errors, warnings } = await found(text, {
      '.acor/workflows/sub.yaml':
        'inputs: { out: { type: path } }\nsteps: [{ name: a, tool: loader, args: { row: 1, out: "${inputs.out}" } }]\n',
      '.acor/error_codes.yaml': own,
    });
    assert.deepEqual([errors, warnings], [[], []]);
  });

  it('name the steps of a circle in their order, one circle for each knot', async () => {
    const errors = await errorsOf([
      '{ name: a, needs: [c], tool: free }',
      '{ name: b, needs: [a], tool: free }',
      '{ name: c, needs: [b], tool: free }',
      '{ name: d, needs: [d], tool: free }',
    ]);
    assert.deepEqual(errors.map(brief), ['3:24 cycle', '5:24 cycle']);
    assert.match(errors[0]!.message, /'a' needs 'c' needs 'b' needs 'a'/);
    assert.match(errors[1]!.message, /'d' needs 'd'/);
  });

  it('report steps that do not exist, share a name, or have ended anyway', async () => {
    const text =
      'steps:\n  - { name: fetch, tool: free }\n  - { name: fetch, tool: free }\n  - { name: c, needs: [fetsh], tool: free }\n' +
      'finally:\n  - { name: d, needs: [fetch], tool: free }\n';
    const { errors } = await found(text);
    assert.deepEqual(errors.map(brief), ['3:13 duplicate-step', '4:24 unknown-need', '6:24 unknown-need']);
    assert.equal(errors[1]?.fix, "Write 'fetch'.");
    assert.match(errors[0]!.message, /line 2/);
  });

  it('report a cycle beside two steps of one name, but not one through that name', async () => {
    const errors = await errorsOf([
      '{ name: x, needs: [], tool: free }',
      '{ name: x, needs: [], tool: free }',
      '{ name: a, needs: [b], tool: free }',
      '{ name: b, needs: [a], tool: free }',
      '{ name: y, needs: [z], tool: free }',
      '{ name: z, needs: [y], tool: free }',
      '{ name: z, needs: [], tool: free }',
    ]);
    assert.deepEqual(
      errors.map(({ rule }) => rule),
      ['duplicate-step', 'cycle', 'duplicate-step'],
    );
  });

  it('report names that an expression cannot read at its place', async () => {
    const errors = await errorsOf([
      '{ name: my-step, tool: free }',
      '{ name: b, needs: [], tool: free, args: ["${steps.my-step.data}"] }',
      '{ name: c, needs: [], tool: free, args: ["${steps[\'my-step\'].data}"] }',
      '{ name: d, tool: free, args: ["${steps.d.data}", "${steps[steps.c.data].ok}"] }',
      '{ name: e, tool: free, args: ["${steps.d.answer}", "${steps.d.count}", "${workflow.id}", "${inputs.x}"] }',
      '{ name: f, when: "${item.ok}", foreach: ["${index}"], tool: free, args: ["${item} ${index} ${HOME}"] }',
      '{ name: g, tool: free, args: ["${steps.h.data}", "${steps.ff.data}"] }',
      '{ name: h, needs: [], tool: free }',
    ]);
    assert.deepEqual(
      errors.map((each) => brief(each).replace(/^(\d+):\d+/, '$1')),
      [
        '3 unknown-step',
        '3 unknown-name',
        '4 not-before',
        '5 not-before',
        '5 unknown-step',
        '6 unknown-field',
        '6 unknown-field',
        '6 unknown-name',
        '6 unknown-input',
        '7 unknown-name',
        '7 unknown-name',
        '7 unknown-name',
        '8 not-before',
        '8 unknown-step',
      ],
    );
    assert.equal(errors[0]?.fix, 'Write steps["my-step"].');
    assert.equal(errors[2]?.fix, "Add 'my-step' to the `needs` of 'c'.");
  });

  it('follow what a step needs through others, and not only the list', async () => {
    assert.deepEqual(
      await rulesOf([
        '{ name: last, needs: [b], tool: free, args: ["${steps.a.data}"] }',
        '{ name: a, needs: [], tool: free }',
        '{ name: b, needs: [a], tool: free }',
      ]),
      [],
    );
  });

  it('report conditions that are not true or false, and warn of constant ones', async () => {
    const { errors, warnings } = await found(
      [
        'steps:',
        '  - { name: a, tool: free, when: "steps.b.ok" }',
        '  - { name: b, tool: free, when: "${1 + 1}" }',
        '  - { name: c, tool: free, when: "x ${1 == 1}" }',
        '  - { name: d, tool: free, when: true }',
        '  - { name: e, tool: free, when: "${1 == 2}" }',
      ].join('\n'),
    );
    assert.deepEqual(errors.map(brief), ['2:34 when-boolean', '3:34 when-boolean', '4:34 when-boolean']);
    assert.deepEqual(warnings.map(brief), ['5:34 when-constant', '6:34 when-constant']);
    assert.match(warnings[1]!.message, /never runs/);
  });

  it('report reads of a step that is always skipped, unless the expression tests it first', async () => {
    assert.deepEqual(
      await rulesOf([
        '{ name: off, tool: free, when: false }',
        '{ name: also, tool: free, args: ["${steps.off.data}"] }',
        '{ name: asks, when: "${!steps.off.ok}", tool: free }',
        '{ name: goes, when: "${inputs == {}}", needs: [also], tool: free, args: ["${steps.off.data}"] }',
        '{ name: knows, needs: [goes], when: "${inputs == {}}", tool: free, args: ["${steps.off.ok ? steps.off.data : 1}"] }',
        '{ name: other, needs: [goes], when: "${inputs == {}}", tool: free, args: ["${steps.also.artifacts}"] }',
      ]),
      ['5:78 skipped-step', '7:79 skipped-step'],
    );
  });

  it('warn of an output that reads a step which a run may skip, unless it tests that first', async () => {
    const { errors, warnings } = await found(
      [
        'inputs: { go: { type: bool } }',
        'steps:',
        '  - { name: sure, tool: free }',
        '  - { name: may, tool: free, when: "${inputs.go == true}" }',
        '  - { name: after, tool: free, needs: [may] }',
        'outputs:',
        '  a: "${steps.may.artifacts}"',
        '  b: "${steps.after.data}"',
        '  c: "${has(steps.may.data) ? steps.may.data : 1}"',
        '  d: "${steps.may.ok ? steps.may.data : 1}"',
        '  e: "${steps.may.state}"',
        '  f: "${steps.sure.data}"',
      ].join('\n'),
    );
    assert.deepEqual(errors, []);
    assert.deepEqual(
      warnings.map(({ rule, line, fix }) => [rule, line, fix]),
      [
        ['maybe-skipped', 7, 'Test it first: steps.may.ok ? … : ….'],
        ['maybe-skipped', 8, 'Test it first: steps.after.ok ? … : ….'],
      ],
    );
  });

  it('warn of text that is meant as an expression, in arguments, inputs and outputs', async () => {
    const { errors, warnings } = await found(
      [
        'inputs: { day: { type: string, default: x } }',
        'steps:',
        '  - { name: a, tool: free, args: ["{{ item.id }}", "${item}", "{{ name }}"], foreach: [1] }',
        '  - { name: b, command: "free inputs.day" }',
        '  - { name: c, tool: free, args: [steps.a, inputs.other, steps.a.b.c-d, "say steps.a", "$${{ inputs.day }}"] }',
        'outputs:',
        '  a: steps.a.data',
        '  b: { deep: ["day: {{inputs.day}}"] }',
        '  c: "${steps.a.data}"',
        '  d: steps.z.data',
      ].join('\n'),
    );
    assert.deepEqual(errors, []);
    assert.deepEqual(
      warnings.map(({ rule, line, column, fix }) => [rule, line, column, fix]),
      [
        ['text-not-expression', 3, 35, 'Write ${item.id}.'],
        ['text-not-expression', 4, 25, 'Write ${inputs.day}.'],
        ['text-not-expression', 5, 35, 'Write ${steps.a}.'],
        ['text-not-expression', 5, 58, 'Write ${steps.a.b.c-d}.'],
        ['text-not-expression', 7, 6, 'Write ${steps.a.data}.'],
        ['text-not-expression', 8, 6, 'Write ${inputs.day}.'],
      ],
    );
    assert.equal(warnings[0]!.message, "'{{ item.id }}' is text here, not its value");
  });

  it('report a foreach that is not a list, or is too long', async () => {
    assert.deepEqual(
      await rulesOf([
        '{ name: a, tool: free, foreach: "a,b" }',
        '{ name: b, tool: free, foreach: [1, 2, 3], max_items: 2 }',
        '{ name: c, tool: free, foreach: ["${1}", 2, 3], max_items: 2 }',
        '{ name: d, tool: free, foreach: "${[1, 2, 3]}", max_items: 2 }',
        '{ name: e, tool: free, foreach: [1, 2], max_items: 2 }',
      ]),
      ['2:37 foreach-list', '3:37 foreach-list', '4:37 foreach-list', '5:37 foreach-list'],
    );
  });

  it('compare the arguments with the inputs of the tool, as far as they are known', async () => {
    const errors = await errorsOf([
      '{ name: a, tool: loadr }',
      '{ name: b, tool: loader }',
      '{ name: c, tool: loader, args: { rwo: 1, row: "1", mode: fats } }',
      '{ name: d, command: "loader --row ${1} --mode ${1} --nope" }',
      '{ name: e, command: "loader --row x" }',
      '{ name: f, tasks: ["loader --row 1", "loader --row 1.5"] }',
      '{ name: g, pipe: ["loader --row 1", "loader ${1}"] }',
      '{ name: h, tool: loader, args: { row: 1, in: not-there.txt, out: /etc/passwd } }',
      '{ name: i, tool: free, args: { n: 1 } }',
      '{ name: j, tool: loader, args: { row: 1, rows: [1, "${1}", x] } }',
    ]);
    assert.deepEqual(errors.map(brief), [
      '2:22 unknown-tool',
      '3:22 argument',
      '4:43 argument',
      '4:51 argument',
      '4:62 argument',
      '5:25 argument',
      '6:25 argument',
      '7:42 argument',
      '8:41 reads-no-records',
      '8:41 argument',
      '8:41 argument',
      '9:70 argument',
      '10:34 argument',
      '11:52 argument',
    ]);
    const [unknown, missing, misspelt] = errors;
    assert.deepEqual(
      [unknown?.fix, missing?.message],
      ["Write 'loader'.", "loader: 'row' is required and is not given"],
    );
    assert.match(misspelt!.message, /'rwo'.*did you mean 'row'\?/);
    assert.match(errors[9]!.message + errors[10]!.message, /\$\{…\}/);
    assert.match(errors[11]!.message, /outside the folders/);
  });

  it('name a tool that cannot be used with what is wrong with it', async () => {
    const [error] = await errorsOf(['{ name: a, tool: broken }'], {
      'tools/broken/tool.yaml': 'name: broken\nno_such: 1\n',
      'tools/broken/cli.sh': '#!/bin/bash\n',
    });
    assert.equal(error?.rule, 'broken-tool');
    assert.match(error.message, /no_such/);
  });

  it('compare decisions with possible answers, and retries with possible errors', async () => {
    assert.deepEqual(
      await rulesOf([
        '{ name: a, type: ai_decision, decision_type: x, options: [{ id: a }, { id: a }], default: b }',
        '{ name: b, type: ai_decision, decision_type: x, schema: { type: strin }, default: 1 }',
        '{ name: c, type: ai_decision, decision_type: x, schema: { type: string }, default: 1 }',
        '{ name: d, type: ai_decision, decision_type: x, options: [{ id: a }], schema: { type: number }, default: 1 }',
        '{ name: e, tool: free, retry: { max: 1, on: [retryabel, E_TIMEOUT] } }',
        '{ name: f, tasks: [{ tool: free, retry: { max: 1, on: [E_NOPE] } }] }',
      ]),
      [
        '2:80 duplicate-option',
        '2:95 default-answer',
        '3:61 answer-schema',
        '4:88 default-answer',
        '6:50 unknown-code',
        '7:60 unknown-code',
      ],
    );
  });

  it('look into the workflows that it contains: whether they are there, end, and are given their inputs', async () => {
    const errors = await errorsOf(
      [
        '{ name: a, workflow: ./none.yaml }',
        '{ name: b, workflow: ./sub.yaml, inputs: { m: 1 } }',
        '{ name: c, workflow: ./sub.yaml, inputs: { n: x } }',
        '{ name: d, workflow: ./sub.yaml, inputs: { n: "${1}" } }',
        '{ name: e, workflow: ./round.yaml }',
        '{ name: f, workflow: ../../../../../../../../../../etc/hostname }',
      ],
      {
        'sub.yaml': 'inputs: { n: { type: int, required: true } }\nsteps: [{ name: a, tool: nope }]\n',
        'round.yaml': 'steps: [{ name: a, tasks: [{ workflow: ./flow.yaml }] }]\n',
      },
    );
    assert.deepEqual(
      errors.map((each) => `${each.file.split('/').at(-1)}:${brief(each)}`),
      [
        'flow.yaml:2:26 no-workflow-file',
        'flow.yaml:3:26 workflow-input',
        'flow.yaml:3:51 workflow-input',
        'flow.yaml:4:51 workflow-input',
        'flow.yaml:7:26 grant-roots',
        'round.yaml:1:40 workflow-in-itself',
        'sub.yaml:2:26 unknown-tool',
      ],
    );
    assert.match(errors[5]!.message, /flow\.yaml contains .*round\.yaml contains .*flow\.yaml/);
  });

  it('allow eight workflows in each other and no more', async () => {
    const chain = (length: number) =>
      Object.fromEntries(
        Array.from({ length }, (_, n) => [
          `w${n}.yaml`,
          n === length - 1
            ? 'steps: [{ name: a, tool: free }]\n'
            : `steps: [{ name: a, workflow: ./w${n + 1}.yaml }, { name: b, workflow: ./w${n + 1}.yaml }]\n`,
        ]),
      );
    assert.deepEqual(await rulesOf(['{ name: a, workflow: ./w0.yaml }'], chain(7)), []);
    const rules = await rulesOf(['{ name: a, workflow: ./w0.yaml }'], chain(8));
    assert.ok(
      rules.length > 0 && rules.every((rule) => rule.endsWith('workflows-too-deep')),
      rules.join(' '),
    );
  });

  it('warn of a step that may write the file itself', async () => {
    const { errors, warnings } = await found(
      'steps:\n  - { name: a, tool: writer }\n  - { name: b, tool: loader, args: { row: 1, out: . } }\n  - { name: c, tool: loader, args: { row: 1, out: ./data } }\n',
      {
        'tools/writer/tool.yaml':
          'name: writer\nversion: 1.0.0\npermissions: { filesystem: { write: ["${PROJECT}/**"] } }\n',
        'tools/writer/cli.sh': '#!/bin/bash\n',
        'data/x': '',
      },
    );
    assert.deepEqual([errors, warnings.map(brief)], [[], ['2:22 writes-workflow', '3:22 writes-workflow']]);
  });

  it('warn by the rules that validation warns by', () => {
    const ofWorkflows = Object.entries(RULES).filter(([, { about }]) => about === 'workflow');
    assert.deepEqual(
      ofWorkflows.flatMap(([rule, { severity }]) => (severity === 'warning' ? rule : [])).sort(),
      [...WARNING_RULES].sort(),
    );
  });

  it('are through with ten thousand steps that all read the first and the last but one', async () => {
    const steps = Array.from({ length: 10_000 }, (_, n) => {
      const reads = n === 0 ? '' : `"\${steps.s0.ok && steps.s${n - 1}.ok}"`;
      return `{"name":"s${n}","tool":"free","args":[${reads}]}`;
    });
    const { workflow, errors } = await found(`{"steps":[${steps.join(',')}]}`);
    assert.deepEqual([errors, workflow?.steps.length], [[], 10_000]);
  });

  it('find the example of the page on workflows to be one, but for its tools', async () => {
    const page = readFileSync(join(import.meta.dirname, '../../../../docs/workflows.md'), 'utf8');
    const [, example] = /```yaml\n(.*?)```/s.exec(page)!;
    const { errors, warnings } = await found(example!, {
      'publish.yaml': 'inputs: { date: { required: true } }\nsteps: [{ name: a, tool: free }]\n',
    });
    assert.deepEqual(warnings, []);
    assert.deepEqual([...new Set(errors.map(({ rule }) => rule))], ['unknown-tool', 'argument']);
    const ofLoader = errors.filter(({ rule }) => rule === 'argument').map(({ message }) => message);
    assert.deepEqual(
      ofLoader.map((message) => /'from', which is not an input/.test(message)),
      [true],
    );
  });

  it('throw all that they find when a workflow is to be run', async () => {
    const services = await project({
      'workflows/flow.yaml': 'steps: [{ name: a, tool: nope }, { name: b, tool: nope }]\n',
    });
    await assert.rejects(loadWorkflow('flow', services), {
      code: 'E_WORKFLOW_INVALID',
      message: `${folder.at('workflows/flow.yaml')}:1:26: there is no tool 'nope' (and 1 more)`,
    });
    await assert.rejects(loadWorkflow('flwo', services), {
      code: 'E_INPUT_NOT_FOUND',
      hint: "Did you mean 'flow'?",
    });
    folder.write('.acor/workflows/flow.json', '{}');
    await assert.rejects(loadWorkflow('flow', services), { code: 'E_USAGE' });
    folder.link('workflows/away.yaml', '/etc/hostname');
    await assert.rejects(loadWorkflow('away', services), { code: 'E_PERMISSION' });
  });
});
