import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { TestProject } from '../support/project.ts';
import { atTerminal } from '../support/terminal.ts';

const GOOD = `description: Loads the rows of a day
inputs:
  limit: { type: int, default: 10 }
  date: { required: true }
steps:
  - { name: fetch, tool: quick }
  - { name: choose, type: ai_decision, decision_type: pick, options: [{ id: all }], when: "\${steps.fetch.ok}" }
`;

describe('the files of workflows', () => {
  let project: TestProject;
  before(() => {
    project = new TestProject({ tools: ['quick'] });
    project.write('workflows/nightly.yaml', GOOD);
    project.write(
      '.acor/workflows/seed.json',
      '{"steps":[{"name":"One step","type":"tool","command":"quick"}]}',
    );
    project.write('elsewhere/warned.yml', 'steps: [{ name: a, tool: quick, when: true }]\n');
  });
  after(() => project[Symbol.dispose]());

  it('are listed by name, including an invalid one, with the command that shows its mistakes', async () => {
    project.write('workflows/broken.yaml', 'stpes: []\n');
    const { data, meta } = await project.envelope(['workflow', 'list']);
    assert.deepEqual(
      data.workflows.map((each: Record<string, unknown>) => [each.name, each.steps, each.inputs]),
      [
        ['seed', 1, []],
        ['broken', 0, []],
        ['nightly', 2, ['date', 'limit']],
      ],
    );
    assert.match(data.workflows[1].problem, /broken\.yaml:1:1: /);
    assert.deepEqual(meta.next, ['acor workflow validate']);
    const { data: some } = await project.envelope(['workflow', 'list', '--filter', 'ROWS']);
    assert.deepEqual(
      some.workflows.map(({ name }: { name: string }) => name),
      ['nightly'],
    );
  });

  it('are in the lines of their runs, and shown to a person where two workflows have one name', async () => {
    using own = new TestProject({ tools: ['quick'] });
    const listed = async () => (await own.acor(['runs', '--kind', 'workflow', '--format', 'text'])).stdout;
    for (const file of ['one.yaml', 'more/two.yaml', 'most/two.yaml'])
      own.write(file, 'name: same\nsteps: [{ name: a, tool: quick }]\n');
    await own.envelope(['workflow', 'run', 'one.yaml', '--no-stream']);
    assert.match(await listed(), /workflow:same {2}/, 'the control: one file needs no name');
    await own.envelope(['workflow', 'run', 'more/two.yaml', '--no-stream']);
    assert.match(await listed(), /workflow:same \(two\.yaml\)[\s\S]*workflow:same \(one\.yaml\)/);
    await own.envelope(['workflow', 'run', 'most/two.yaml', '--no-stream']);
    const { data } = await own.envelope(['runs']);
    const files = data.runs.flatMap(({ file }: { file?: string }) => file ?? []);
    assert.deepEqual(
      files,
      ['most/two.yaml', 'more/two.yaml', 'one.yaml'].map((file) => own.path(file)),
    );
    const text = await own.acor(['runs', '--kind', 'workflow', '--format', 'text']);
    for (const file of ['most/two.yaml', 'more/two.yaml']) assert.ok(text.stdout.includes(file), text.stdout);
  });

  it('begin with a template, which validates and runs without a tool', async () => {
    using fresh = new TestProject({ tools: [] });
    const planned = await fresh.envelope(['workflow', 'template', '--name', 'weekly', '--dry-run']);
    assert.deepEqual(planned.data.files, [{ path: 'workflows/weekly.yaml', action: 'create' }]);
    assert.equal(existsSync(fresh.path('workflows/weekly.yaml')), false);
    const { meta } = await fresh.envelope(['workflow', 'template', '--name', 'weekly']);
    assert.deepEqual(meta.next, ['acor workflow validate weekly', 'acor workflow run --dry-run weekly']);
    for (const command of meta.next) {
      const { code, data } = await fresh.envelope(command.split(' ').slice(1));
      assert.equal(code, 0, command);
      if (command.includes('validate')) assert.deepEqual(data.findings, []);
    }
    const ran = await fresh.envelope([
      'workflow',
      'run',
      'weekly',
      '--answer',
      'choose=continue',
      '--no-stream',
    ]);
    assert.deepEqual(ran.data.result.data, { choice: 'continue' });
    const again = await fresh.envelope(['workflow', 'template', '--name', 'weekly']);
    assert.equal(again.error.code, 'E_USAGE');
    assert.match(again.error.message, /already exists: .*weekly\.yaml/);
    const elsewhere = await fresh.envelope(['workflow', 'template', '--name', 'other', '--output', 'flows']);
    const [validate] = elsewhere.meta.next;
    assert.equal((await fresh.envelope(validate.split(' ').slice(1))).code, 0);
    assert.equal((await fresh.envelope(['workflow', 'template', '--name', '../x'])).error.code, 'E_USAGE');
  });

  it('are checked by name, by path, or all of them, with every finding and exit code 2', async () => {
    const good = await project.envelope(['workflow', 'validate', 'nightly', 'elsewhere/warned.yml']);
    assert.deepEqual([good.code, good.data.errors, good.data.warnings, good.data.workflows], [0, 0, 1, 2]);
    const { rule, severity, line, col, fix } = good.data.findings[0];
    assert.deepEqual(
      [rule, severity, line, col, fix],
      ['when-constant', 'warning', 1, 39, 'Leave `when` out.'],
    );
    const strict = await project.envelope(['workflow', 'validate', 'elsewhere/warned.yml', '--strict']);
    assert.deepEqual(
      [strict.code, strict.error.code, strict.error.details.errors],
      [2, 'E_WORKFLOW_INVALID', 1],
    );
    project.write(
      'workflows/broken.yaml',
      'steps: [{ name: a, tool: quik }, { name: b, tool: nope, needs: [c] }]\n',
    );
    const all = await project.envelope(['workflow', 'validate']);
    assert.deepEqual([all.code, all.error.code], [2, 'E_WORKFLOW_INVALID']);
    assert.deepEqual(
      all.error.details.findings.map((each: Record<string, unknown>) => each.rule),
      ['unknown-tool', 'unknown-tool', 'unknown-need'],
    );
    assert.equal(all.error.hint, "Write 'quick'.");
  });

  it('are among the files that acor validate checks, in the project and by path', async () => {
    project.write('workflows/broken.yaml', 'steps: [{ name: a, tool: quik }]\n');
    const whole = await project.envelope(['validate']);
    assert.deepEqual([whole.code, whole.error.code], [2, 'E_WORKFLOW_INVALID']);
    assert.match(whole.error.message, /broken\.yaml:1:26: there is no tool 'quik'/);
    const one = await project.envelope(['validate', 'workflows/nightly.yaml']);
    assert.deepEqual([one.code, one.data.findings], [0, []]);
  });

  it('are fixed where that is safe, when they are YAML', async () => {
    project.write('workflows/broken.yaml', '# kept\nsteps:\n  - { name: a, tool: quick, timout_s: "5" }\n');
    project.write('workflows/other.json', '{"steps":[{"name":"a","tool":"quick","timout_s":5}]}');
    const { error } = await project.envelope(['validate', '--fix']);
    assert.equal(
      readFileSync(project.path('workflows/broken.yaml'), 'utf8'),
      '# kept\nsteps:\n  - { name: a, tool: quick, timeout_s: 5 }\n',
    );
    assert.match(error.message, /other\.json:1:\d+: unknown key 'timout_s'/);
    rmSync(project.path('workflows/other.json'));
  });

  it('are drawn as a document with --format, else as data', async () => {
    const mermaid = await project.acor(['workflow', 'graph', 'nightly', '--format', 'mermaid']);
    assert.equal(
      mermaid.stdout,
      'flowchart TD\n  n0["fetch<br/>quick"]\n  n1{"choose<br/>decide: pick<br/>when steps.fetch.ok"}\n  n0 --> n1\n',
    );
    const dot = await project.acor(['workflow', 'graph', 'workflows/nightly.yaml', '--format', 'dot']);
    assert.match(dot.stdout, /^digraph "nightly" \{\n[\s\S]*\n {2}n0 -> n1;\n\}\n$/);
    const { data } = await project.envelope(['workflow', 'graph', 'nightly', '--fields', 'step,kind']);
    assert.deepEqual(data.nodes, [
      { step: 'fetch', kind: 'tool' },
      { step: 'choose', kind: 'decision' },
    ]);
  });

  it('are drawn with the states of their own run, and of no other', async () => {
    const { end } = await project.run(['quick']);
    const refused = await project.envelope(['workflow', 'graph', 'nightly', '--run', String(end.run_id)]);
    assert.deepEqual([refused.code, refused.error.code], [1, 'E_USAGE']);
    assert.deepEqual(refused.meta.next, ['acor runs --tool workflow:nightly']);
  });

  it('with mistakes are not drawn, and the error says why', async () => {
    project.write('workflows/broken.yaml', 'steps: [{ name: a }]\n');
    const checked = await project.envelope(['workflow', 'validate', 'broken', '--strict']);
    assert.deepEqual(checked.meta.next, ['acor workflow validate broken --strict']);
    const { code, error, meta } = await project.envelope([
      'workflow',
      'graph',
      'broken',
      '--format',
      'mermaid',
    ]);
    assert.deepEqual([code, error.code], [2, 'E_WORKFLOW_INVALID']);
    assert.deepEqual(meta.next, ['acor workflow validate broken']);
  });

  it('are completed by name at a Tab', async () => {
    const offered = async (word: string) =>
      (await project.acor(['complete-words', '--', 'workflow', 'graph', word])).stdout;
    assert.match(await offered('ni'), /^nightly\t/m);
    assert.doesNotMatch(await offered('ni'), /^seed/m);
  });

  it('with a wrong name fail with the nearest name', async () => {
    const { code, error } = await project.envelope(['workflow', 'validate', 'nigthly']);
    assert.deepEqual([code, error.code, error.hint], [1, 'E_INPUT_NOT_FOUND', "Did you mean 'nightly'?"]);
  });

  it('are shown to a person as a table and as sentences', async () => {
    project.write('workflows/broken.yaml', 'steps: [{ name: a, tool: quik }]\n');
    const list = await atTerminal(['workflow', 'list'], { cwd: project.root });
    assert.match(list.text, /nightly +2 +date limit +Loads the rows of a day/);
    const checked = await atTerminal(['workflow', 'validate'], { cwd: project.root });
    assert.match(checked.text, /broken\.yaml:1:26: there is no tool 'quik'\s+Write 'quick'\./);
  });
});
