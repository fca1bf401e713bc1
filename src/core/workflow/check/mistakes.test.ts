import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { afterEach, describe, it } from 'node:test';
import { type ProjectFolder, projectFolder } from '../../../../test/support/project-folder.ts';
import { loadConfig } from '../../config/load.ts';
import type { Problem } from '../../config/problem.ts';
import { Registry } from '../../registry/registry.ts';
import { inspectWorkflow, surroundingsOf } from '../inspect-workflow.ts';

const TOOLS: Readonly<Record<string, string>> = {
  loader: 'inputs: [{ name: row, type: int, required: true }, { name: out, type: path, access: write }]\n',
  free: '',
  tree: 'input_schema: { type: object, properties: { at: { type: object, properties: { n: { type: number } } }, n: { type: integer } } }\n',
  bound:
    'input_schema: { type: object, properties: { n: { type: integer, multipleOf: 2 }, m: {} }, dependentRequired: { n: [m] } }\n',
  extra: 'inputs: [{ name: row, type: int }]\nextra_args: true\n',
};

// What the author of a workflow reads about each mistake: the place, the message, the fix, and the next step.
describe('a mistake in a workflow', () => {
  let folder: ProjectFolder;
  afterEach(() => folder?.remove());

  async function of(lines: readonly string[], files: Readonly<Record<string, string>> = {}) {
    folder?.remove();
    const tools = Object.entries(TOOLS).flatMap(([name, more]) => [
      [`tools/${name}/tool.yaml`, `name: ${name}\nversion: 1.0.0\n${more}`],
      [`tools/${name}/cli.sh`, '#!/bin/bash\n'],
    ]);
    folder = projectFolder({ '.acor/config.yaml': 'version: 1\n', ...Object.fromEntries(tools), ...files });
    const config = await loadConfig({ cwd: folder.root, env: {} });
    folder.write('flow.yaml', lines.join('\n'));
    const services = { config, registry: Registry.open(config), cwd: folder.root };
    const { errors, warnings } = await inspectWorkflow(
      folder.at('flow.yaml'),
      await surroundingsOf(services),
    );
    return [...errors, ...warnings].map(shown);
  }

  function shown({ file, line, message, fix, next = [] }: Problem): string {
    const name = file === folder.at('flow.yaml') ? '' : `${file.slice(folder.root.length + 1)}:`;
    const after = next.map((step) => ('operation' in step ? ` → ${step.operation}` : '')).join('');
    return `${name}${line}: ${message} | ${fix}${after}`
      .replaceAll(folder.root, '<root>')
      .replaceAll(dirname(folder.root), '<tmp>')
      .replace(/(JSON Schema: |Known keys: ).*(?= \||$)/, '$1…');
  }

  const step = (name: string, more: string) => `  - { name: ${name}, ${more} }`;

  it('of its order is shown with its place and its fix', async () => {
    assert.deepEqual(
      await of([
        'steps:',
        step('fetch', 'tool: free'),
        step('b', 'tool: free, needs: [zzzzzz]'),
        step('c', 'tool: free, needs: [fetc]'),
        'finally:',
        step('d', 'tool: free, needs: [fetch]'),
        step('e', 'tool: free, needs: [nowhere]'),
        step('f', 'tool: free, needs: [e]'),
        step('g', 'tool: free, needs: [g]'),
      ]),
      [
        "3: 'b' needs 'zzzzzz', which does not exist | Leave 'zzzzzz' out.",
        "4: 'c' needs 'fetc', which does not exist | Write 'fetch'.",
        "6: 'd' needs 'fetch', which has ended before finally begins | Leave 'fetch' out.",
        "7: 'e' needs 'nowhere', which does not exist | Leave 'nowhere' out.",
        "9: these steps form a cycle: 'g' needs 'g' | Remove one of them from the `needs` of another.",
      ],
    );
    const ring = (count: number) =>
      Array.from({ length: count }, (_, n) => step(`s${n}`, `tool: free, needs: [s${(n + 1) % count}]`));
    assert.deepEqual(await of(['steps:', ...ring(11)]), [
      "12: these steps form a cycle: 's0' needs 's1' needs 's2' needs 's3' needs 's4' needs 's5' needs 's6' needs 's7' needs 's8' needs 's9' needs 's10' needs 's0' | Remove one of them from the `needs` of another.",
    ]);
    assert.deepEqual(await of(['steps:', ...ring(12)]), [
      "13: these steps form a cycle: 's0' needs 's1' needs 's2' needs 's3' needs 's4' needs 's5' needs 's6' needs 's7' needs 's8' needs 's9' needs … needs 's0' | Remove one of them from the `needs` of another.",
    ]);
    const rings = await of([
      'steps:',
      ...Array.from({ length: 21 }, (_, n) => step(`r${n}`, `tool: free, needs: [r${n}]`)),
    ]);
    assert.equal(rings.length, 20);
  });
  it('of its names and retries is shown with its place and its fix', async () => {
    assert.deepEqual(
      await of([
        'steps:',
        step('a', 'tool: free'),
        step('a', 'tool: free'),
        '  - name: p',
        '    type: parallel',
        '    tasks:',
        '      - { name: t, tool: free }',
        '      - { tool: free,',
        '          name: t }',
        '      - { name: a, tool: free }',
        step('b', 'tool: free, retry: { max: 1, on: [E_TIMEOUTS] }'),
        step('c', 'tool: free, retry: { max: 1, on: [E_TIMEOUT, zzzzzz] }'),
        step('d', 'tasks: [{ tool: free, retry: { max: 1, on: [qqqqqq] } }]'),
      ]),
      [
        "3: line 2 already defines step called 'a' | Rename one of the two.",
        "9: line 7 already defines task called 't' | Rename one of the two.",
        "11: 'E_TIMEOUTS' is neither a class of errors nor an error code | Write 'E_TIMEOUT'.",
        "12: 'zzzzzz' is neither a class of errors nor an error code | Choose a class or a code from the list. → system.errors",
        "13: 'qqqqqq' is neither a class of errors nor an error code | Choose a class or a code from the list. → system.errors",
      ],
    );
  });
  it('of what its expressions read is shown with its place and its fix', async () => {
    assert.deepEqual(
      await of([
        'inputs: { word: { default: x }, my-word: { default: x } }',
        'steps:',
        step('a', 'tool: free, when: "${steps.nope.ok}"'),
        step('b', 'tool: free, foreach: ["x"], args: ["${item} ${index}"]'),
        step('c', 'tool: free, args: ["${inputs.wrd}", "${inputs.zzzzzz}", "${inputs.my}"]'),
        step(
          'd',
          'tool: free, args: ["${steps.d.ok}", "${steps.late.ok}", "${steps.b.answer}", "${steps.b.count}"]',
        ),
        step('e', 'tool: free, foreach: "${[item]}"'),
        step('f', 'tool: free, args: ["${item}", "${index}"]'),
        step('g', 'tool: free, args: ["${workflow.id}", "${HOME}", "${steps[steps.a.code].ok}"]'),
        step(
          'h',
          'type: ai_decision, decision_type: x, instruction: "${steps.zzzzzz.ok}", context: { a: "${steps.aa.ok}" }',
        ),
        step(
          'i',
          'type: parallel, tasks: [{ tool: free, args: ["${steps.h.data}", "${steps.h.answer}", "${steps.b.failed}"] }]',
        ),
        step(
          'j',
          'tool: free, args: ["${steps.i.count}", "${steps.i.answer}", "${steps.a.state}", "${steps.a.code}", "${steps.a.run_id}"]',
        ),
        step('late', 'tool: free'),
        'finally:',
        step('x', 'tool: free, args: ["${steps.a.ok}", "${steps.y.ok}"]'),
        step('y', 'tool: free, args: ["${steps.x.ok}"]'),
        'outputs: { a: "${item}", b: "${steps.y.ok}", c: "${steps.bb.ok}" }',
      ]),
      [
        "3: in ${steps.nope.ok}: there is no step called 'nope' | There are: a, b, c, d, e, f, g, h, i, j ….",
        "5: in ${inputs.wrd}: there is no input called 'wrd' | Write inputs.word.",
        "5: in ${inputs.zzzzzz}: there is no input called 'zzzzzz' | There are: word, my-word.",
        '5: in ${inputs.my}: there is no input called \'my\' | Write inputs["my-word"].',
        "6: in ${steps.d.ok}: 'd' reads itself | Read the result of an earlier step.",
        "6: in ${steps.late.ok}: 'late' may still be running when 'd' starts | Add 'late' to the `needs` of 'd'.",
        "6: in ${steps.b.answer}: 'b' has no 'answer' | Read one of: state, ok, code, run_id, data, artifacts, count, failed.",
        '7: in ${[item]}: \'item\' exists only inside a foreach | `when` and `foreach` are asked once, before the items: choose among those with foreach: "${….filter(row, …)}".',
        "8: in ${item}: 'item' exists only inside a foreach | Give the step a foreach, or read something else.",
        "8: in ${index}: 'index' exists only inside a foreach | Give the step a foreach, or read something else.",
        '9: in ${workflow.id}: there is no workflow.id | Write one of: workflow.run_id, workflow.ok.',
        "9: in ${HOME}: there is no 'HOME' | Names begin with inputs, steps, workflow, and within a foreach with item or index. Put texts in quotes; write $${ for a literal ${.",
        "9: in ${steps[steps.a.code].ok}: the step is only known at run time | Name the step: steps.fetch.data, or steps['the name'].data.",
        "10: in ${steps.zzzzzz.ok}: there is no step called 'zzzzzz' | There are: a, b, c, d, e, f, g, h, i, j ….",
        "10: in ${steps.aa.ok}: there is no step called 'aa' | Write steps.a.",
        "11: in ${steps.h.data}: 'h' has no 'data' | Read one of: state, ok, code, run_id, answer.",
        "12: in ${steps.i.answer}: 'i' has no 'answer' | Read one of: state, ok, code, run_id, data, artifacts, count, failed.",
        "15: in ${steps.y.ok}: 'y' may still be running when 'x' starts | Add 'y' to the `needs` of 'x'.",
        "17: in ${item}: 'item' exists only inside a foreach | Give the step a foreach, or read something else.",
        "17: in ${steps.bb.ok}: there is no step called 'bb' | Write steps.b.",
      ],
    );
    assert.deepEqual(
      await of(['inputs: { word: {} }', 'steps:', step('a', 'tool: free, args: ["${inputs.zzzzzz}"]')]),
      ["3: in ${inputs.zzzzzz}: there is no input called 'zzzzzz' | There are: word."],
    );
    assert.deepEqual(await of(['steps:', step('a', 'tool: free, args: ["${inputs.x}"]')]), [
      "2: in ${inputs.x}: there is no input called 'x' | The workflow has no inputs.",
    ]);
    assert.deepEqual(
      await of([
        `inputs: { ${Array.from({ length: 10 }, (_, n) => `input_number_${n}: {}`).join(', ')} }`,
        'steps:',
        step('a', 'tool: free, args: ["${inputs.x}"]'),
      ]),
      [
        "3: in ${inputs.x}: there is no input called 'x' | There are: input_number_0, input_number_1, input_number_2, input_number_3, input_number_4, input_number_5, input_number_6, input_number_7, input_number_8, input_number_9.",
      ],
    );
    assert.deepEqual(
      await of([
        `inputs: { ${Array.from({ length: 11 }, (_, n) => `input_number_${n}: {}`).join(', ')} }`,
        'steps:',
        step('a', 'tool: free, args: ["${inputs.x}"]'),
      ]),
      [
        "3: in ${inputs.x}: there is no input called 'x' | There are: input_number_0, input_number_1, input_number_2, input_number_3, input_number_4, input_number_5, input_number_6, input_number_7, input_number_8, input_number_9 ….",
      ],
    );
    assert.deepEqual(
      await of([
        'inputs: { n: { type: json } }',
        'steps:',
        step(
          'a',
          `tool: free, args: [${['bool', 'int', 'uint', 'double', 'string', 'bytes', 'list', 'map', 'type', 'null_type'].map((t) => `"\${type(inputs.n) == ${t}}"`).join(', ')}]`,
        ),
      ]),
      [],
    );
  });
  it('of its conditions and lists is shown with its place and its fix', async () => {
    assert.deepEqual(
      await of([
        'inputs: { off: { default: x } }',
        'steps:',
        step('a', 'tool: free, when: "yes"'),
        step('b', 'tool: free, when: "${1 + 1}"'),
        step('c', 'tool: free, when: "x ${1 == 1}"'),
        step('d', 'tool: free, when: true'),
        step('e', 'tool: free, when: "${1 == 1}"'),
        step('e2', 'tool: free, when: "${1 / 0 == 1}"'),
        step('off', 'tool: free, when: false'),
        step('follows', 'tool: free'),
        step(
          'asks',
          'tool: free, needs: [off], when: "${inputs.off == \'x\'}", args: ["${steps.off.data}", "${steps.off.ok ? steps.off.data : 1}", "${steps.follows.data}", "${steps.off}"]',
        ),
        step('asks2', 'tool: free, needs: [asks], when: "${steps.asks.ok}", args: ["${steps.asks.data}"]'),
        step('list', 'tool: free, needs: [asks], foreach: "a,b"'),
        step('list2', 'tool: free, foreach: "${[1, 2, 3]}", max_items: 2'),
        step('list3', 'tool: free, foreach: ["${1}", "2", "3"], max_items: 2'),
        step('list4', 'tool: free, foreach: ["1", "2"], max_items: 2'),
        step('list5', 'tool: free, foreach: ["1"], max_items: 1'),
        step('list6', 'tool: free, foreach: "${steps.asks.data}", max_items: 1'),
        'outputs: { x: "${steps.off.data}" }',
      ]),
      [
        '3: `when` of \'a\' is a text; it must be an expression that is true or false | Write exactly one expression: when: "${…}".',
        "4: `when` of 'b' is always 2; it must be true or false | Compare the value with something.",
        '5: `when` of \'c\' is a text; it must be an expression that is true or false | Write exactly one expression: when: "${…}".',
        "11: in ${steps.off.data}: 'off' is always skipped and has no 'data' | Fix the `when` of 'off', or test the step first: steps.off.ok ? … : ….",
        "11: in ${steps.follows.data}: 'follows' may still be running when 'asks' starts | Add 'follows' to the `needs` of 'asks'.",
        "11: in ${steps.follows.data}: 'follows' is always skipped and has no 'data' | Fix the `when` of 'follows', or test the step first: steps.follows.ok ? … : ….",
        '13: the `foreach` of \'list\' is not a list | Write a list, or one expression whose value is a list: foreach: "${steps.a.data.rows}".',
        "14: the `foreach` of 'list2' has 3 items; max_items allows 2 | Raise max_items, or shorten the list.",
        "15: the `foreach` of 'list3' has 3 items; max_items allows 2 | Raise max_items, or shorten the list.",
        "19: in ${steps.off.data}: 'off' is always skipped and has no 'data' | Fix the `when` of 'off', or test the step first: steps.off.ok ? … : ….",
        "6: `when` of 'd' is always true | Leave `when` out.",
        "7: `when` of 'e' is always true | Leave `when` out.",
        "9: `when` of 'off' is always false: the step never runs | Leave the step out, or let `when` depend on something.",
      ],
    );
  });
  it('of its decisions is shown with its place and its fix', async () => {
    assert.deepEqual(
      await of([
        'steps:',
        step(
          'a',
          'type: ai_decision, decision_type: x, options: [{ id: a }, { id: b }, { id: a }], default: c',
        ),
        step('b', 'type: ai_decision, decision_type: x, schema: { type: strin }, default: 1'),
        step('c', 'type: ai_decision, decision_type: x, schema: { type: string }, default: 1'),
        step('d', 'type: ai_decision, decision_type: x, schema: { type: string }, default: y'),
        step('e', 'tasks: [{ tool: free }, { type: ai_decision, decision_type: x, schema: { type: nope } }]'),
      ]),
      [
        "2: 'a' has the option 'a' twice | Remove one of them.",
        "2: the default of 'a' is not a valid answer: \"c\" is not an option of 'a'; expected one of: a, b, a | Write a default that is one of the options or fits the schema.",
        "3: the schema of 'b' is not a valid JSON Schema: …",
        "4: the default of 'c' is not a valid answer: the answer to 'c' does not match its schema: answer must be string | Write a default that is one of the options or fits the schema.",
        "6: the schema of '1' is not a valid JSON Schema: …",
      ],
    );
  });
  it('of its calls of tools is shown with its place and its fix', async () => {
    assert.deepEqual(
      await of(
        [
          'steps:',
          step('a', 'tool: zzzzzz'),
          step('b', 'tool: loadr'),
          step('c', 'tool: broken'),
          step('d', 'pipe: ["loader --row 1", "free"]'),
          step('e', 'tool: free, args: { a: 1 }'),
          step('e2', 'tool: free, args: {}'),
          step('e3', 'tool: free, args: [x]'),
          step('f', 'tool: loader, args: { row: x, out: /etc/passwd }'),
          step('g', 'command: "loader --row x"'),
          step('h', 'command: "loader --row ${1} y${1}z"'),
          step('i', 'tool: loader, args: { row: 1, out: later.txt }'),
          step('i2', 'tool: loader, args: { out: later.txt }'),
          step('j', 'tool: tree, args: { at: { n: text } }'),
          step('k', 'tool: tree, args: { at: { n: text }, n: text }'),
          step('l', 'tool: tree, args: { at: { n: 1 }, n: null }'),
          step('l2', 'tool: tree, args: { at: { n: "${1}" }, n: "${1}" }'),
          step('m', 'tool: extra, args: ["--row", "1", "--", "more"]'),
          step('n', 'tool: loader, args: ["--row", "1", "more"]'),
          step('o', 'tool: loader, args: { row: ["${1}"] }'),
          step('p', 'tool: broken2'),
          step('q', 'tool: bound, args: { n: 3, m: "${1}" }'),
          step('r', 'tool: bound, args: { n: 2 }'),
          step('s', 'tool: bound, args: { n: "${1}" }'),
        ],
        {
          'tools/broken/tool.yaml':
            'name: broken\nversion: 1.0.0\nno_such: 1\npermissions: { filesystem: { write: ["${PROJECT}/**"] } }\n',
          'tools/broken/cli.sh': '#!/bin/bash\n',
          'tools/broken2/tool.yaml': 'name: broken2\nno_such: 1\nversion: x\n',
          'tools/broken2/cli.sh': '#!/bin/bash\n',
        },
      ),
      [
        "2: there is no tool 'zzzzzz' | Choose a tool from the list. → tool.list",
        "3: there is no tool 'loadr' | Write 'loader'.",
        "4: the tool 'broken' cannot be used: <root>/tools/broken/tool.yaml:3:1: unknown key 'no_such' | Leave it out. Known keys: …",
        '5: \'free\' does not declare that it reads records from the tool before it | If it reads JSON Lines from its standard input, add "stdin: records" to its tool.yaml. Otherwise use it only as the first stage.',
        '6: free: it declares no inputs, so arguments cannot be passed by name | Write the arguments as a list of words, or declare inputs in the manifest of the tool.',
        '9: loader: \'row\' must be a whole number, and is "x" | Use a valid value. See the inputs of the tool. → tool.describe',
        "9: loader: '/etc/passwd' for 'out' is outside the folders that ACOR may grant | Use a path inside <root>, <tmp>, or add its folder to security.grant_roots. See the inputs of the tool. → tool.describe",
        "10: loader: 'row' must be a whole number, and is 'x' | Use a valid value. See the inputs of the tool. → tool.describe",
        "11: loader: unexpected argument 'y${…}z' | Put the flag that it belongs to in front of it, or quote it. See the inputs of the tool. → tool.describe",
        "13: loader: 'row' is required and is not given | Add --row <int>. See the inputs of the tool. → tool.describe",
        "14: tree: 'at.n' must be number | It must match input_schema.properties.at of the tool. See the inputs of the tool. → tool.describe",
        '15: tree: \'n\' must be a whole number, and is "text" | Use a valid value. See the inputs of the tool. → tool.describe',
        "19: loader: unexpected argument 'more' | Put the flag that it belongs to in front of it, or quote it. See the inputs of the tool. → tool.describe",
        "21: the tool 'broken2' cannot be used: <root>/tools/broken2/tool.yaml:2:1: unknown key 'no_such' | Leave it out. Known keys: …",
        "22: bound: 'n' must be multiple of 2, and is 3 | It must match input_schema.properties.n of the tool. See the inputs of the tool. → tool.describe",
        "23: bound: 'm' is required with 'n' and is not given | Add --m <json>. See the inputs of the tool. → tool.describe",
      ],
    );
    const many = await of([
      'steps:',
      ...Array.from({ length: 21 }, (_, n) => step(`s${n}`, `tool: loader${String.fromCharCode(97 + n)}`)),
    ]);
    assert.deepEqual([many.length, many.filter((line) => line.endsWith("Write 'loader'.")).length], [21, 20]);
    const more = await of([
      'steps:',
      ...Array.from({ length: 201 }, (_, n) => step(`s${n}`, 'tool: loader')),
    ]);
    assert.equal(more.length, 200);
  });
  it('of the workflows in it is shown with its place and its fix', async () => {
    const files = {
      'sub.yaml': 'inputs: { n: { type: int, required: true } }\nsteps: [{ name: a, tool: zzzzzz }]\n',
      'round.yaml': 'steps: [{ name: a, tasks: [{ workflow: ./flow.yaml }] }]\n',
      'bad.yaml': 'stpes: []\n',
      'self.yaml': 'steps: [{ name: a, workflow: ./self.yaml }]\n',
    };
    assert.deepEqual(
      await of(
        [
          'steps:',
          step('a', 'workflow: ./none.yaml'),
          step('b', 'workflow: ./sub.yaml, inputs: { m: 1 }'),
          step('c', 'workflow: ./sub.yaml, inputs: { n: x }'),
          step('d', 'workflow: ./sub.yaml, inputs: { n: "${1}" }'),
          step('d2', 'workflow: ./sub.yaml, inputs: { n: 1, m: "x ${1}" }'),
          step('e', 'workflow: ./round.yaml'),
          step('f', 'workflow: ../../../../../../../../../../etc/hostname'),
          step('g', 'workflow: ./bad.yaml'),
          step('h', 'workflow: ./self.yaml'),
        ],
        files,
      ),
      [
        "bad.yaml:1: 'steps' is missing | Add it: steps: …",
        "bad.yaml:1: unknown key 'stpes'; did you mean 'steps'? | Write 'steps', or leave it out.",
        '2: there is no workflow at <root>/none.yaml | Write a path from the folder of this file, or the name of a workflow from the list. → workflow.list',
        "3: sub: 'n' is required and is not given | Add --n <int>.",
        "3: sub: the step gives 'm', which is not an input; did you mean 'n'? | Write \"n\".",
        '4: sub: \'n\' must be a whole number, and is "x" | Use a valid value.',
        "6: sub: the step gives 'm', which is not an input; did you mean 'n'? | Write \"n\".",
        '8: the workflow /etc/hostname is outside of the folders that ACOR may grant | Move it into <root>, <tmp>, or add its folder to security.grant_roots.',
        'round.yaml:1: a workflow contains itself: <root>/flow.yaml contains <root>/round.yaml contains <root>/flow.yaml | Remove one of these references.',
        'self.yaml:1: a workflow contains itself: <root>/self.yaml contains <root>/self.yaml | Remove one of these references.',
        "sub.yaml:2: there is no tool 'zzzzzz' | Choose a tool from the list. → tool.list",
      ],
    );
    const chain = (length: number, last: string) =>
      Object.fromEntries(
        Array.from({ length }, (_, n) => [
          `w${n}.yaml`,
          n === length - 1 ? last : `steps: [{ name: a, workflow: ./w${n + 1}.yaml }]\n`,
        ]),
      );
    assert.deepEqual(await of(['steps:', step('a', 'workflow: ./w0.yaml')], chain(7, 'stpes: []\n')), [
      "w6.yaml:1: 'steps' is missing | Add it: steps: …",
      "w6.yaml:1: unknown key 'stpes'; did you mean 'steps'? | Write 'steps', or leave it out.",
    ]);
    assert.deepEqual(
      await of(['steps:', step('a', 'workflow: ./w0.yaml')], chain(8, 'steps: [{ name: a, tool: free }]\n')),
      [
        '2: more than 8 workflows are nested here | Reduce the nesting.',
        'w0.yaml:1: more than 8 workflows are nested here | Reduce the nesting.',
        'w1.yaml:1: more than 8 workflows are nested here | Reduce the nesting.',
        'w2.yaml:1: more than 8 workflows are nested here | Reduce the nesting.',
        'w3.yaml:1: more than 8 workflows are nested here | Reduce the nesting.',
        'w4.yaml:1: more than 8 workflows are nested here | Reduce the nesting.',
        'w5.yaml:1: more than 8 workflows are nested here | Reduce the nesting.',
        'w6.yaml:1: more than 8 workflows are nested here | Reduce the nesting.',
      ],
    );
    assert.deepEqual(
      await of(['steps:', step('a', 'workflow: ./w0.yaml')], chain(10, 'steps: [{ name: a, tool: free }]\n')),
      [
        '2: more than 8 workflows are nested here | Reduce the nesting.',
        'w0.yaml:1: more than 8 workflows are nested here | Reduce the nesting.',
        'w1.yaml:1: more than 8 workflows are nested here | Reduce the nesting.',
        'w2.yaml:1: more than 8 workflows are nested here | Reduce the nesting.',
        'w3.yaml:1: more than 8 workflows are nested here | Reduce the nesting.',
        'w4.yaml:1: more than 8 workflows are nested here | Reduce the nesting.',
        'w5.yaml:1: more than 8 workflows are nested here | Reduce the nesting.',
        'w6.yaml:1: more than 8 workflows are nested here | Reduce the nesting.',
      ],
    );
  });
  it('that lets a step write the file of the workflow is shown with its place and its fix', async () => {
    assert.deepEqual(
      await of(
        [
          'steps:',
          step('a', 'tool: writer'),
          step('b', 'tool: loader, args: { row: 1, out: . }'),
          step('c', 'tool: loader, args: { row: 1, out: ./data }'),
          step('d', 'tool: loader, args: { row: 1, out: "${1}" }'),
          step('e', 'tool: reads, args: { in: . }'),
          step('f', 'tool: strange'),
        ],
        {
          'tools/writer/tool.yaml':
            'name: writer\nversion: 1.0.0\npermissions: { filesystem: { write: ["${PROJECT}/**"] } }\n',
          'tools/writer/cli.sh': '#!/bin/bash\n',
          'tools/reads/tool.yaml':
            'name: reads\nversion: 1.0.0\ninputs: [{ name: in, type: path, access: read }]\npermissions: { filesystem: { read: ["${PROJECT}/**"] } }\n',
          'tools/reads/cli.sh': '#!/bin/bash\n',
          'tools/strange/tool.yaml':
            'name: strange\nversion: 1.0.0\npermissions: { filesystem: { write: ["/proc/**"] } }\n',
          'tools/strange/cli.sh': '#!/bin/bash\n',
          'data/x': '',
        },
      ),
      [
        "2: 'writer' may write the file of this workflow: its manifest asks to write <root> | Keep the workflow in a folder that its steps do not write.",
        "3: 'loader' may write the file of this workflow: its arguments let it write <root> | Keep the workflow in a folder that its steps do not write.",
      ],
    );
  });
});
