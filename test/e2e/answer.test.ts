import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { TestProject, WITHOUT_SANDBOX } from '../support/project.ts';
import { atTerminal, noTerminal } from '../support/terminal.ts';

const RESULT = {
  type: 'result',
  status: 'ok',
  metrics: { files: 2 },
  data: {
    files: [
      { path: 'a/path/that/is/copied.txt', bytes: 12 },
      { path: 'b.txt', bytes: 3 },
    ],
    by: { kind: { text: 2 } },
  },
};

const project = new TestProject({ tools: ['no_result'], config: WITHOUT_SANDBOX });
after(() => project[Symbol.dispose]());
tool('lists', `#!/bin/sh\necho '${JSON.stringify(RESULT)}'\n`);
tool('plain_one', '#!/bin/sh\necho one\necho two\n');
tool('plain_many', '#!/bin/sh\ni=0; while [ $i -lt 30 ]; do i=$((i+1)); echo "row $i"; done\n');
tool('breaks_python', '#!/usr/bin/env python3\nimport sys\nprint({}["x"])\n');
tool('breaks_node', '#!/usr/bin/env node\nnull.x;\n');
tool('breaks_bash', '#!/usr/bin/env bash\nset -e\nno_such_program_here\n');
tool(
  'breaks_go',
  '#!/bin/sh\necho "panic: assignment to entry in nil map" >&2\necho >&2\necho "goroutine 1 [running]:" >&2\nexit 2\n',
);
tool('chatty', '#!/bin/sh\ni=0; while [ $i -lt 40 ]; do i=$((i+1)); echo "line $i" >&2; done\nexit 1\n');
project.write(
  'workflows/two.yaml',
  "name: two\nsteps:\n  - { name: first, tool: lists }\noutputs: { paths: '${steps.first.data.files}' }\n",
);

function tool(name: string, text: string): void {
  project.write(`tools/${name}/main`, text, 0o755);
}

describe('at a terminal', { skip: noTerminal }, () => {
  const shown = async (args: readonly string[]) => (await atTerminal(args, { cwd: project.root })).text;

  it('the data of the result are what a person sees last, whole', async () => {
    const text = await shown(['run', 'lists']);
    assert.match(
      text,
      /completed in .*\r?\nfiles\r?\n {2}path {23}bytes\r?\n {2}a\/path\/that\/is\/copied\.txt {5}12\r?\n {2}b\.txt +3\r?\nby\r?\n {2}kind\r?\n {4}text {2}2\s*$/,
    );
  });

  it('so are the outputs of a workflow, and what `show` has of a run', async () => {
    const table = /path +bytes\r?\n +a\/path\/that\/is\/copied\.txt +12\r?\n +b\.txt +3\s*$/;
    assert.match(await shown(['workflow', 'run', 'two']), table);
    const [runId] = project.runIds().slice(-2);
    assert.match(await shown(['show', runId!]), table);
  });

  it('the output of a plain program is its answer, and many lines are not shown twice', async () => {
    assert.match(await shown(['run', 'plain_one']), /completed in .*\r?\none\r?\ntwo\s*$/);
    const many = await shown(['run', 'plain_many']);
    assert.equal(many.split('row 30').length, 2, many);
  });
});

describe('--format text', () => {
  it('gives a pipe nothing but the answer', async () => {
    const { stdout, code } = await project.acor(['run', 'plain_one', '--format', 'text']);
    assert.deepEqual([stdout, code], ['one\ntwo\n', 0]);
    const table = await project.acor(['--format', 'text', 'run', 'lists']);
    assert.match(table.stdout, /^files\n {2}path {23}bytes\n/);
  });

  it('is readable for every command, and errors go to stderr', async () => {
    assert.match((await project.acor(['runs', '--format', 'text'])).stdout, /^state +tool/);
    assert.match((await project.acor(['list', '--format', 'text'])).stdout, /^tool +version/);
    assert.match((await project.acor(['explain', '--format', 'text'])).stdout, /^# How to use ACOR/);
    const failed = await project.acor(['run', 'breaks_bash', '--format', 'text']);
    assert.equal(failed.stdout, '');
    assert.match(failed.stderr, /E_TOOL_FAILED: .*no_such_program_here: command not found/);
  });
});

describe('an envelope', () => {
  it('has the output of a plain program without a manifest as its result', async () => {
    const { data } = await project.envelope(['run', 'plain_one', '--no-stream']);
    assert.deepEqual(data.result.data, { output: 'one\ntwo' });
  });

  it('has the warnings of the run, also later', async () => {
    const { data, meta } = await project.envelope(['run', 'no_result', '--no-stream']);
    assert.match(meta.warnings.join(), /exited with 0 without a result/);
    assert.deepEqual((await project.envelope(['show', data.run_id])).meta.warnings, meta.warnings);
  });

  it('has the last twenty lines of stderr of a run that failed', async () => {
    const { error } = await project.envelope(['run', 'chatty', '--no-stream']);
    assert.equal(error.details.stderr.length, 20);
    assert.equal(error.details.stderr.at(-1), 'line 40');
    const shown = await project.envelope(['show', error.details.run_id]);
    assert.deepEqual(shown.data.stderr, error.details.stderr);
  });

  it('says things once: what the error says is not among its details', async () => {
    const { error, meta } = await project.envelope(['run', 'chatty', '--no-stream']);
    for (const key of ['code', 'message', 'hint', 'retryable', 'next'])
      assert.ok(!(key in error.details), key);
    assert.equal(meta.warnings, undefined, 'an exit code of a tool without a manifest is no surprise');
  });

  for (const [name, line] of [
    ['breaks_python', /: KeyError: 'x'$/],
    ['breaks_node', /: TypeError: Cannot read properties of null/],
    ['breaks_bash', /: main: line 3: no_such_program_here: command not found$/],
    ['breaks_go', /: panic: assignment to entry in nil map$/],
  ] as const)
    it(`names the line with which ${name} ended`, async () => {
      const { error } = await project.envelope(['run', name, '--no-stream']);
      assert.match(error.message, line);
    });
});

describe('in the environment of an agent', () => {
  const env = { CLAUDECODE: '1' };

  it('a run answers with one envelope, and --stream asks for the events', async () => {
    assert.equal((await project.envelope(['run', 'lists'], { env })).ok, true);
    const { end } = await project.run(['--stream', 'lists'], { env });
    assert.equal(end.state, 'completed');
    assert.equal((await project.run(['lists'])).end.state, 'completed', 'a pipe alone is no agent');
  });
});
