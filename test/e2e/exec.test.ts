import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { readRun, TestProject } from '../support/project.ts';

const HEADER = `#!/bin/bash
# Greets a person.
# acor: name: greet
# acor: version: 2.0.0
# acor: adapter: plain
# acor: inputs:
# acor:   - { name: who, type: string, required: true }

echo "hello $2"
`;

describe('a program without a manifest', () => {
  let project: TestProject;
  before(() => {
    project = new TestProject();
    project.write('data.txt', 'content\n');
    mkdirSync(project.path('out'));
  });
  after(() => project[Symbol.dispose]());

  const output = async (...args: string[]) => {
    const { data, error } = await project.envelope(['exec', '--no-stream', ...args]);
    assert.ok(data !== undefined, JSON.stringify(error));
    return data.result.data.output as string;
  };

  it('runs in an empty workspace, and reads a file that an argument names', async () => {
    assert.equal(await output('--', 'cat', 'data.txt'), 'content');
    assert.equal(await output('ls'), '');
    const { stdout } = await project.acor(['exec', '--', 'sh', '-c', 'exit 3']);
    const end = JSON.parse(stdout.trim().split('\n').at(-1)!);
    assert.deepEqual([end.type, end.state, end.rc], ['runner_end', 'failed', 3]);
  });

  it('starts in the current folder when that is granted, and writes only where it may', async () => {
    assert.match(await output('--read', '.', '--', 'ls'), /^data\.txt\nout/);
    await output('--write', 'out', '--', 'sh', '-c', 'echo new > out/new.txt');
    assert.equal(readFileSync(project.path('out', 'new.txt'), 'utf8'), 'new\n');
    const { error } = await project.envelope([
      'exec',
      '--no-stream',
      '--read',
      'out',
      '--',
      'sh',
      '-c',
      `cat ${project.path('data.txt')}`,
    ]);
    assert.match(error.hint, /pass the flag --read \S+\/data\.txt/);
  });

  it('gets no path outside of the grant roots, and nothing that only an approval gives', async () => {
    const outside = await project.envelope(['exec', '--read', '/etc', '--', 'ls']);
    assert.equal(outside.error.code, 'E_PERMISSION');
    const everything = await project.envelope(['exec', '--cmd', '*', '--', 'ls']);
    assert.equal(everything.error.code, 'E_POLICY_DENIED');
    const missing = await project.envelope(['exec', 'no-such-program']);
    assert.equal(missing.error.code, 'E_RUNTIME_MISSING');
  });

  it('can be repeated with the same grants', async () => {
    const failing = 'test -e out/now && cat data.txt';
    const first = await project.envelope([
      ...['exec', '--no-stream', '--read', '.', '--', 'sh', '-c', failing],
    ]);
    assert.equal(first.error.details.state, 'failed');
    project.write('out/now', '');
    const again = await project.envelope(['retry', first.error.details.run_id, '--no-stream']);
    assert.equal(again.data?.result.data.output, 'content', JSON.stringify(again.error));
    const replayed = await project.envelope([
      'replay',
      first.error.details.run_id,
      '--execute',
      '--no-stream',
    ]);
    assert.equal(replayed.data?.state, 'completed', JSON.stringify(replayed.error));
    const shown = await project.envelope(['exec', '--dry-run', '--read', '.', '--', 'cat', 'data.txt']);
    assert.equal(shown.data.cwd, project.root);
    const [, ...command] = shown.meta.next[0].split(' ');
    const { stdout } = await project.acor(command);
    assert.match(stdout, /"output":"content"/);
  });
});

describe('a program that is interrupted', () => {
  const WAITS = `trap 'echo "asked to end"; exit 7' TERM\necho ready >&2\nwhile :; do sleep 0.02; done\n`;
  let project: TestProject;
  before(() => {
    // Nothing but the program's own end ends a run within a test.
    project = new TestProject({
      tools: ['heeds_cancel'],
      config: 'version: 1\nenvironment: { cancel_grace_s: 86400 }\n',
    });
    project.write('wait.sh', `#!/bin/sh\n${WAITS}`, 0o755);
  });
  after(() => project[Symbol.dispose]());

  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    for (const command of [
      ['exec', '--', 'sh', '-c', WAITS],
      ['run', './wait.sh'],
    ])
      it(`${command[0]}: ${signal} reaches it at once, and its end is the end of the run`, async () => {
        const running = project.start(command);
        await running.event('diagnostic');
        running.child.kill(signal);
        const run = readRun(await running.finished);
        assert.deepEqual([run.end.state, run.end.rc, run.code], ['cancelled', 7, 1]);
        assert.match(run.stdout, /asked to end/);
      });
  }

  it('a tool that writes the protocol ends by its cancel file, without a signal', async () => {
    const running = project.start(['run', 'heeds_cancel']);
    await running.event('heartbeat');
    running.child.kill('SIGINT');
    const { end, of } = readRun(await running.finished);
    assert.deepEqual([end.state, end.rc, of('cancelled').length], ['cancelled', 130, 1]);
  });
});

describe('a script with its manifest in its header', () => {
  let project: TestProject;
  before(() => {
    project = new TestProject();
    project.write('greet.sh', HEADER, 0o755);
    project.write('tools/hi.sh', HEADER.replace('name: greet', 'name: hi'), 0o755);
    project.write('script.js', '// acor: adapter: plain\n// acor: output: json\nconsole.log(\'{"a":1}\');\n');
    project.write('broken.sh', '#!/bin/bash\n# acor: inputs:\n# acor:   - { nme: who }\n', 0o755);
  });
  after(() => project[Symbol.dispose]());

  it('runs by its path, with checked arguments', async () => {
    const { data } = await project.envelope(['run', '--no-stream', './greet.sh', '--who', 'Ada']);
    assert.equal(data.result.data.output, 'hello Ada');
    const { error } = await project.envelope(['run', './greet.sh']);
    assert.equal(error.details.problems[0].rule, 'required');
    const json = await project.envelope(['run', '--no-stream', './script.js']);
    assert.deepEqual(json.data.result.data, { a: 1 });
  });

  it('is a tool of the project in its tools folder', async () => {
    const { data } = await project.envelope(['describe', 'hi']);
    assert.deepEqual([data.version, data.inputs[0].name], ['2.0.0', 'who']);
    const ran = await project.envelope(['run', '--no-stream', 'hi', '--who', 'Bo']);
    assert.equal(ran.data.result.data.output, 'hello Bo');
  });

  it('is reported with the line and column of a mistake', async () => {
    const { error } = await project.envelope(['run', './broken.sh']);
    assert.equal(error.code, 'E_MANIFEST_INVALID');
    assert.match(error.message, /broken\.sh:3:13: /);
    const checked = await project.envelope(['validate', './broken.sh', './greet.sh']);
    assert.deepEqual(
      checked.error.details.findings
        .filter(({ severity }: { severity: string }) => severity === 'error')
        .map(({ file, line }: { file: string; line: number }) => [file, line]),
      [
        [project.path('broken.sh'), 3],
        [project.path('broken.sh'), 3],
      ],
    );
    assert.equal(
      (await project.envelope(['run', './tools'])).error.message,
      `${project.path('tools')} is not a file`,
    );
  });

  it('is not run when it is missing, or of an unknown kind', async () => {
    project.write('plain.txt', 'no script\n');
    assert.equal((await project.envelope(['run', './none.sh'])).error.code, 'E_TOOL_NOT_FOUND');
    const { error } = await project.envelope(['run', './plain.txt']);
    assert.deepEqual([error.code, /chmod \+x/.test(error.hint)], ['E_SPAWN_FAILED', true]);
  });
});

describe('a tool that takes further arguments, or starts in the project', () => {
  let project: TestProject;
  before(() => {
    project = new TestProject();
    project.write('tools/more/main', '#!/bin/sh\nprintf "%s|" "$@"\n', 0o755);
    project.write(
      'tools/more/tool.yaml',
      'name: more\nversion: 1.0.0\nadapter: plain\nextra_args: true\ninputs: [{ name: n, type: int }]\n',
    );
    project.write(
      'tools/here/main',
      '#!/bin/sh\npwd; cat data.txt; echo x > y 2>/dev/null || echo denied\n',
      0o755,
    );
    project.write('tools/here/tool.yaml', 'name: here\nversion: 1.0.0\nadapter: plain\ncwd: project\n');
    project.write('data.txt', 'content\n');
  });
  after(() => project[Symbol.dispose]());

  it('gets undeclared flags as they are, and checks the declared ones', async () => {
    const words = ['--zeta', '5', '-H', 'a: b', '--n', '3', 'data.txt', '--eq=1'];
    const { data } = await project.envelope(['run', '--no-stream', 'more', ...words]);
    assert.equal(data.result.data.output, `--n|3|--zeta|5|-H|a: b|--eq=1|${project.path('data.txt')}|`);
    assert.equal((await project.envelope(['run', 'more', '--n', 'x'])).error.details.problems[0].input, 'n');
  });

  it('reads the project and cannot write it', async () => {
    const { data } = await project.envelope(['run', '--no-stream', 'here']);
    assert.equal(data.result.data.output, `${project.root}\ncontent\ndenied`);
    const { data: described } = await project.envelope(['describe', 'here']);
    assert.deepEqual(
      [described.permissions.level, described.permissions.filesystem.read],
      ['standard', ['${PROJECT}/**']],
    );
    project.write('tools/here/tool.yaml', 'name: here\ncwd: project\npermissions: { level: minimal }\n');
    const { error } = await project.envelope(['run', 'here']);
    assert.equal(error.details.problems[0].rule, 'level-too-low');
  });
});
