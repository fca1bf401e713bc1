import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { ACOR, parseLines, TestProject, until } from '../support/project.ts';
import { atTerminal } from '../support/terminal.ts';

describe('what an answer says about how to go on', () => {
  let project: TestProject;
  const REPORT = 'one\ntwo\n\n';
  before(() => {
    project = new TestProject({ tools: ['quick', 'heeds_cancel', 'no_result'] });
    project.write(
      'left.sh',
      '#!/bin/sh\necho hi > left.txt\nprintf "one\\ntwo\\n\\n" > "$ARTIFACTS_DIR/report.txt"\n',
      0o755,
    );
  });
  after(() => project[Symbol.dispose]());

  const idOf = async (...args: string[]) => {
    const { stdout } = await project.acor([...args, '--stream']);
    return String(parseLines(stdout)[0]!.run_id);
  };

  it('ends the hint about a file in the workspace with the whole command that keeps it', async () => {
    const { of } = await project.run(['--stream', './left.sh']);
    const warning = of('runner_warning').find((event) => 'leftovers' in event)!;
    assert.match(String(warning.msg), /To keep one: cp \S+\/left\.txt \.$/);
  });

  it('prints an artifact itself as text, byte for byte, and in an envelope otherwise', async () => {
    const { end } = await project.run(['--stream', './left.sh']);
    const text = await project.acor(['artifact', String(end.run_id), '1', '--format', 'text']);
    assert.equal(text.stdout, REPORT);
    const { data } = await project.envelope(['artifact', String(end.run_id), '1']);
    assert.deepEqual([data.encoding, data.content], ['utf8', REPORT]);
  });

  it('writes a binary artifact byte for byte into a pipe, and refuses it at a terminal with the command', async () => {
    const write = "(printf '\\377'; head -c 2999999 /dev/urandom)";
    project.write('binary.sh', `#!/bin/sh\n${write} > "$ARTIFACTS_DIR/x y.bin"\n`, 0o755);
    const { end } = await project.run(['--stream', './binary.sh']);
    const [artifact] = end.artifacts as { path: string; sha256: string }[];
    const command = `acor artifact ${end.run_id} 1`;
    const piped = spawnSync(ACOR, [...command.split(' ').slice(1), '--format', 'text'], {
      cwd: project.root,
      env: project.environment(),
      maxBuffer: 10_000_000,
    });
    assert.deepEqual([piped.status, piped.stdout.length], [0, 3_000_000], String(piped.stderr));
    assert.equal(createHash('sha256').update(piped.stdout).digest('hex'), artifact!.sha256);
    const shown = await atTerminal(command.split(' ').slice(1), { cwd: project.root });
    assert.match(shown.text, /E_USAGE: 'x y\.bin' is not text for a terminal: \S+, 3000000 bytes/);
    assert.ok(shown.text.includes(`${command} --format text > 'x y.bin'`), shown.text);
    assert.doesNotMatch(shown.text, /\ufffd/);
    const { data } = await project.envelope(['artifact', String(end.run_id), '1', '--bytes', '10']);
    assert.deepEqual([data.encoding, data.bytes], ['base64', 10]);
  });

  it('passes no escape sequence of an artifact to a terminal', async () => {
    project.write(
      'escapes.sh',
      '#!/bin/sh\nprintf "a\\033]0;title\\007b\\n" > "$ARTIFACTS_DIR/e.txt"\n',
      0o755,
    );
    const { end } = await project.run(['--stream', './escapes.sh']);
    const shown = await atTerminal(['artifact', String(end.run_id), '1'], { cwd: project.root });
    assert.doesNotMatch(shown.text, /\x1b\]0;title/);
    const piped = await project.acor(['artifact', String(end.run_id), '1', '--format', 'text']);
    assert.equal(piped.stdout, 'a\x1b]0;title\x07b\n', 'the control: a file gets every byte');
  });

  it('shows why a run was cancelled, and never cuts the name of a tool or an id', async () => {
    const { data } = await project.envelope(['run', 'heeds_cancel', '--detach']);
    await until(() => project.record(data.run_id)?.state === 'running');
    await project.acor(['cancel', data.run_id, '--reason', 'the input is wrong']);
    const shown = await project.acor(['show', data.run_id, '--format', 'text']);
    assert.match(shown.stdout, /^why +.*the input is wrong/m);
    const runs = await project.acor(['runs', '--format', 'text'], { env: { COLUMNS: '80' } });
    assert.ok(runs.stdout.includes(project.path('left.sh')), runs.stdout);
    const verified = await project.acor(['verify', data.run_id, '--format', 'text'], {
      env: { COLUMNS: '80' },
    });
    assert.ok(verified.stdout.includes(data.run_id), verified.stdout);
  });

  it('shows a workflow with a short version, and nothing that only its steps have', async () => {
    project.write('.acor/workflows/short.yaml', 'name: short\nsteps:\n  - { name: only, tool: quick }\n');
    const { data } = await project.envelope(['workflow', 'run', 'short', '--no-stream']);
    const shown = await project.acor(['show', data.run_id, '--format', 'text']);
    assert.match(shown.stdout, /^\S+ completed {2}workflow:short sha256:[0-9a-f]{12}\n/);
    assert.doesNotMatch(shown.stdout, /^(sandbox|progress) /m);
    const record = (await project.envelope(['show', data.run_id])).data;
    assert.match(record.tool_version, /^sha256:[0-9a-f]{64}$/);
    const step = (await project.envelope(['runs', '--limit', '2'])).data.runs.find(
      (run: { tool: string }) => run.tool === 'quick',
    );
    assert.match((await project.acor(['show', step.run_id, '--format', 'text'])).stdout, /^sandbox +\S/m);
  });

  it('names the replay of a completed run that cannot be retried', async () => {
    const runId = await idOf('run', 'quick');
    const { error, meta } = await project.envelope(['retry', runId]);
    assert.equal(error.code, 'E_USAGE');
    assert.deepEqual(meta.next, [`acor show ${runId}`, `acor replay ${runId} --execute --dry-run`]);
    const [, ...replay] = meta.next[1].split(' ');
    assert.ok((await project.envelope(replay)).ok);
  });

  it('begins the page of all commands with what people do first', async () => {
    const { stdout } = await project.acor(['help', 'all']);
    assert.match(stdout, /^Example\n {2}acor init\n/);
  });

  it('offers only runs that the command accepts', async () => {
    const { data } = await project.envelope(['run', 'heeds_cancel', '--detach']);
    await until(() => project.record(data.run_id)?.state === 'running');
    const offered = async (...words: string[]) => {
      const { stdout } = await project.acor(['complete-words', '--', ...words, '']);
      return stdout;
    };
    const done = await idOf('run', 'quick');
    const cancel = await offered('cancel');
    assert.ok(cancel.includes(data.run_id) && !cancel.includes(done), cancel);
    const retry = await offered('retry');
    assert.ok(!retry.includes(data.run_id) && !retry.includes(done), retry);
    assert.ok((await offered('show')).includes(done));
    await project.acor(['cancel', data.run_id]);
  });

  it('gives an example of this project where a value is missing, and none where there is no such value', async () => {
    const run = await project.envelope(['run']);
    assert.equal(run.error.hint, 'For example: acor run heeds_cancel (see: acor run --help)');
    using empty = new TestProject();
    for (const [command, error] of [
      ['run', (await empty.envelope(['run'])).error],
      ['show', (await empty.envelope(['artifacts'])).error],
    ] as const) {
      assert.equal(error.code, 'E_USAGE', command);
      assert.doesNotMatch(error.hint, /For example/);
    }
  });

  it('says where the tools are that a call from below a folder without .acor does not find', async () => {
    using other = new TestProject({ tools: ['quick'] });
    rmSync(other.path('.acor'), { recursive: true });
    other.write('in/side.txt', '');
    const cwd = other.path('in');
    const listed = await other.envelope(['list'], { cwd });
    assert.deepEqual(listed.data.tools, []);
    const [warning] = listed.meta.warnings as [string];
    assert.ok(
      warning.startsWith(`The tools in ${other.path('tools')} are found only by calls from`),
      warning,
    );
    assert.deepEqual(listed.meta.next, [`cd ${other.root} && acor list`]);
    const run = await other.envelope(['run', 'quick'], { cwd });
    assert.equal(run.error.hint, warning);
    // The control: from the folder itself, and below a project.
    assert.equal((await other.envelope(['list'])).data.tools.length, 1);
    assert.equal((await project.envelope(['list'])).meta.warnings, undefined);
  });

  it('names every invalid field of a message at once', async () => {
    project.write(
      'bad.sh',
      `#!/bin/sh
echo '{"type":"start","ts":"yesterday","trace_id":"t-abc","args":[1]}'
echo '{"type":"log","level":"loud","msg":5}'
echo '{"type":"log","level":"loud","msg":5}'
echo '{"type":"result","status":"ok"}'
`,
      0o755,
    );
    const { of } = await project.run(['--stream', './bad.sh']);
    assert.deepEqual(
      of('runner_warning').map(({ msg }) => String(msg).replace(/ must be.*/, '')),
      ['ts', 'trace_id', 'step', 'args']
        .map((field) => `invalid 'start': '${field}'`)
        .concat(['level', 'msg'].map((field) => `invalid 'log': '${field}'`)),
    );
  });

  it('names the run of the failed step of a workflow, and of the failed stage of a pipe', async () => {
    project.write('tools/breaks/cli.sh', 'echo "no disk" >&2; exit 3\n');
    project.write('tools/breaks/tool.yaml', 'name: breaks\nadapter: plain\n');
    project.write('tools/sorts/tool.yaml', 'name: sorts\nadapter: plain\nstdin: records\ncommand: [sort]\n');
    project.write('.acor/workflows/fails.yaml', 'name: fails\nsteps:\n  - { name: broken, tool: breaks }\n');
    for (const call of [
      ['workflow', 'run', 'fails', '--no-stream'],
      ['pipe', '--no-stream', 'breaks', 'sorts'],
    ]) {
      const { error, meta } = await project.envelope(call);
      const { data } = await project.envelope(['runs', '--tool', 'breaks', '--limit', '1']);
      const command = `acor logs ${data.runs[0].run_id}`;
      assert.ok(meta.next.includes(command), `${command}: ${JSON.stringify([meta.next, error])}`);
      const shown = await project.envelope(['show', error.details.run_id]);
      assert.ok(shown.meta.next.includes(command), JSON.stringify(shown.meta.next));
      assert.match((await project.acor(command.split(' ').slice(1))).stdout, /no disk/);
    }
  });
});
