import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { manifestFile } from '../../protocol/manifest.ts';
import { checkFile } from './check-file.ts';
import { problemText } from './problem.ts';
import { parseYaml } from './yaml-file.ts';

const problemsOf = async (text: string) =>
  checkFile(manifestFile, await parseYaml('tool.yaml', text)).problems;

describe('the check of a file', () => {
  it('reports every problem at once, in the order of the file, with its place, its rule and its fix', async () => {
    const problems = await problemsOf(
      'name: a\ntimeout_s: "10"\nverion: 1.0.0\nrole: leef\npermissions:\n  netwrk: {}\n',
    );
    assert.deepEqual(
      problems.map((each) => [problemText(each), each.rule, each.fix]),
      [
        [
          `tool.yaml:2:12: 'timeout_s' must be a number, got the text "10"`,
          'type',
          'Write it without quotes: timeout_s: 10',
        ],
        [
          `tool.yaml:3:1: unknown key 'verion'; did you mean 'version'?`,
          'unknown-key',
          "Write 'version', or leave it out.",
        ],
        [
          `tool.yaml:4:7: 'role' must be one of leaf, orchestrator, got the text "leef"`,
          'allowed-values',
          'Write role: leaf',
        ],
        [
          `tool.yaml:6:3: unknown key 'netwrk' in 'permissions'; did you mean 'network'?`,
          'unknown-key',
          "Write 'network', or leave it out.",
        ],
      ],
    );
  });

  it('reports what is wrong between inputs beside what is wrong within them', async () => {
    const problems = await problemsOf(
      [
        'inputs:',
        '  - { name: a, type: int, min: 5, max: 3 }',
        '  - { name: a, type: wrong, quux: 1 }',
        '  - { name: x, type: bool, default: true }',
        '  - { name: no-x, type: bool }',
        '  - { name: no-a, type: bool }',
        '  - { name: y, type: bool, default: true, joined: true }',
        '  - { name: no-y, type: bool }\n',
      ].join('\n'),
    );
    assert.deepEqual(
      problems.map(({ line, rule }) => `${line} ${rule}`),
      ['2 min-above-max', '3 duplicate-input', '3 allowed-values', '3 unknown-key', '5 duplicate-input'],
    );
    assert.equal(problems.at(-1)?.message, "the inputs 'x' and 'no-x' both use --no-x");
  });

  it('names the places where the file knows an unknown key, and the nearest key of its own place', async () => {
    for (const [text, meant, fix] of [
      [
        'commands: [git]',
        "'permissions.commands' or 'command'",
        "Move it to 'permissions.commands', write 'command'",
      ],
      ['network: {}', "'permissions.network'", "Move it to 'permissions.network'"],
      ['memory_mb: 64', "'resources.memory_mb'", "Move it to 'resources.memory_mb'"],
      ['positional: true', "'inputs[].positional'", "Move it to 'inputs[].positional'"],
      ['permissions: { cpu_seconds: 5 }', "'resources.cpu_seconds'", "Move it to 'resources.cpu_seconds'"],
      [
        'paths: []',
        "'permissions.network.egress_allow[].paths'",
        "Move it to 'permissions.network.egress_allow[].paths'",
      ],
      // `name` is known at many places, so none of them is named.
      ['health: { name: x }', '', undefined],
    ] as const) {
      const [problem] = await problemsOf(`${text}\n`);
      assert.equal(problem?.message.replace(/.*?(; did you mean (.*)\?)?$/, '$2'), meant, text);
      if (fix !== undefined) assert.equal(problem?.fix, `${fix}, or leave it out.`);
    }
  });

  it('lists the known keys when none is near', async () => {
    const [problem] = await problemsOf('quux: 1\n');
    assert.match(problem!.fix, /Known keys: name, version/);
  });

  it('shows how a version that became a number is written, so that it is one', async () => {
    for (const [text, fix] of [
      ['version: 1.0', 'version: "1.0.0"'],
      ['version: 1', 'version: "1.0.0"'],
      ['min_acor_version: 0.10', 'min_acor_version: "0.10.0"'],
      ['category: 1.0', 'category: "1.0"'],
      ['language: 1', 'language: "1"'],
    ] as const) {
      const [problem] = await problemsOf(`${text}\n`);
      assert.equal(problem?.fix, `Put it in quotes: ${fix}`);
      assert.deepEqual(await problemsOf(`${fix}\n`), []);
    }
    assert.equal((await problemsOf('name: 1.5\n'))[0]?.fix, 'Write text there.');
  });

  it('finds the place of a mistake inside a list', async () => {
    const [problem] = await problemsOf('inputs:\n  - name: a\n  - name: b\n    type: strng\n');
    assert.deepEqual([problem?.line, problem?.column], [4, 11]);
    assert.match(problem!.message, /^'inputs\[1\]\.type'/);
  });

  it('reports a map or a list where a word is expected, whatever its keys are', async () => {
    for (const odd of ['{toString: x}', '{valueOf: x}', '{constructor: x}', '[[{toString: x}]]']) {
      for (const key of ['adapter', 'effects', 'cwd', 'stdin', 'from', 'role']) {
        const [problem] = await problemsOf(`name: a\n${key}: ${odd}\n`);
        assert.deepEqual([problem?.rule, problem?.line], ['allowed-values', 2], `${key}: ${odd}`);
      }
    }
  });

  it('reports what is wrong with the alternative that was meant, else names all of them', async () => {
    for (const [text, ...expected] of [
      [
        'output: JSON',
        '\'output\' must be one of text, json, jsonl, lines, csv, columns, table, pairs, paragraphs, records, got the text "JSON"',
        'Write output: json',
      ],
      [
        'output: { format: csv, colums: [a] }',
        "unknown key 'colums' in 'output'; did you mean 'columns'?",
        "Write 'columns', or leave it out.",
      ],
      [
        'secrets: [{ name: T, as: envv }]',
        '\'secrets[0].as\' must be one of env, file, got the text "envv"',
        'Write as: env',
      ],
      [
        'secrets: [5]',
        "'secrets[0]' must be text or a map of keys, got the number 5",
        'Write text or a map of keys there.',
      ],
      [
        'inputs: [{ name: a, enum: [a, true] }]',
        "'inputs[0].enum[1]' must be text or a number, got the boolean true",
        'Write text or a number there.',
      ],
      [
        'permissions: { network: { egress_allow: all } }',
        '\'permissions.network.egress_allow\' must be a list of host:port, got the text "all"',
        'Change the value to match the rule.',
      ],
      [
        'permissions: { network: { egress_allow: [{ host: a.b, method: [GET] }] } }',
        "unknown key 'method' in 'permissions.network.egress_allow[0]'; did you mean 'methods'?",
        "Write 'methods', or leave it out.",
      ],
    ] as const) {
      const problems = await problemsOf(`adapter: plain\n${text}\n`);
      assert.deepEqual(
        problems.map(({ message, fix }) => [message, fix]),
        [expected],
      );
    }
  });

  it('names a number that is not finite', async () => {
    const problems = await problemsOf('inputs: [{ name: a, type: int, max: .inf }]\ntimeout_s: .nan\n');
    assert.deepEqual(
      problems.map(({ message }) => message),
      [
        "'inputs[0].max' must be a finite number, got the number Infinity",
        "'timeout_s' must be a finite number, got the number NaN",
      ],
    );
  });

  it('reports a list as a list, and nothing that its keys would mean', async () => {
    const [problem, ...others] = await problemsOf('- a\n');
    assert.deepEqual([problem?.message, others], ['the file must be a map of keys, got a list', []]);
  });

  it('reports a missing key', async () => {
    const [problem] = await problemsOf('inputs:\n  - type: int\n');
    assert.deepEqual(
      [problem?.rule, problem?.message, problem?.line],
      ['missing', "'inputs[0].name' is missing", 2],
    );
  });

  it('reports a key without a value, an invalid name, and a number out of range', async () => {
    const problems = await problemsOf(
      'examples:\nenv: {set: {1x: a}}\nexit_codes: {bad: 900}\ntimeout_s: 0\n',
    );
    assert.deepEqual(
      problems.map(({ rule, line }) => [rule, line]),
      [
        ['type', 1],
        ['key-name', 2],
        ['bounds', 3],
        ['bounds', 4],
      ],
    );
  });

  it('does not look further into a file that is no YAML', async () => {
    assert.deepEqual(
      (await problemsOf('name: [\n')).map(({ rule }) => rule),
      ['yaml'],
    );
  });

  it('returns the data when there are no problems', async () => {
    assert.equal(checkFile(manifestFile, await parseYaml('tool.yaml', 'name: a\n')).data?.name, 'a');
  });

  it('refuses a prototype as a key', async () => {
    assert.deepEqual(
      (await problemsOf('__proto__: {name: a}\n')).map(({ rule }) => rule),
      ['unknown-key'],
    );
  });
});
