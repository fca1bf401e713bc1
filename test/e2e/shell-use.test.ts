import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { ACOR, TestProject, until, WITHOUT_SANDBOX } from '../support/project.ts';
import { noTerminal, Terminal } from '../support/terminal.ts';

const NO_STDIN = /does not get your standard input/;
const YAML = (name: string, more = '') => `name: ${name}\nversion: 1.0.0\n${more}`;

let project: TestProject;
before(() => {
  project = new TestProject({ tools: ['asks_any', 'heeds_cancel'] });
  project.write('count.sh', '#!/bin/sh\nwc -c\n', 0o755);
  project.write('tools/counts/tool.yaml', YAML('counts', 'command: [wc, -c]\nadapter: plain\n'));
  project.write('tools/makes/cli.sh', '#!/bin/sh\necho made > "$ARTIFACTS_DIR/$RUN_ID.txt"\n', 0o755);
  project.write('tools/fails/cli.sh', '#!/bin/sh\necho partly; echo why >&2; exit 4\n', 0o755);
  project.write('tools/eats/tool.yaml', YAML('eats', 'command: [cat]\nadapter: plain\nstdin: records\n'));
  project.write(
    '.acor/workflows/two.yaml',
    'name: two\nsteps:\n  - { name: first, tool: makes }\n  - { name: second, tool: makes }\n',
  );
});
after(() => project[Symbol.dispose]());

const text = (...args: string[]) => project.acor(['--format', 'text', ...args]);
const shell = (script: string) =>
  spawnSync('sh', ['-c', script], {
    cwd: project.root,
    env: { ...project.environment(), ACOR },
    encoding: 'utf8',
  });

describe("data on the caller's standard input, which no program gets", () => {
  const calls = {
    'a program': 'exec --no-stream -- wc -c',
    'a script': '--no-stream run ./count.sh',
    'a tool that is a plain program': 'run counts --no-stream',
    'a tool without a manifest': 'run makes --no-stream',
  };
  for (const [what, call] of Object.entries(calls))
    it(`are named in the answer of ${what}`, () => {
      const { stdout, stderr } = shell(`echo data | "$ACOR" ${call.replace('--no-stream run', 'run')}`);
      assert.match(stderr, NO_STDIN, stdout);
    });

  it('are named in the envelope, and not where there are none', () => {
    const warned = shell('echo data | "$ACOR" run counts --no-stream');
    assert.match(JSON.parse(warned.stdout).meta.warnings[0], NO_STDIN);
    project.write('empty', '');
    for (const quiet of ['< /dev/null', '< empty'])
      assert.doesNotMatch(shell(`"$ACOR" run counts --no-stream ${quiet}`).stderr, NO_STDIN);
  });

  it('are named when they come while the program runs', () => {
    const late = `(until [ -e began ]; do sleep 0.05; done; echo data; touch written) |
      "$ACOR" exec --no-stream --write . -- true`;
    // The program waits until the data are in the pipe.
    const script = late.replace(
      '--write . -- true',
      '--write gates -- sh -c "touch gates/began; until [ -e gates/written ]; do sleep 0.05; done"',
    );
    const { stderr, stdout } = shell(
      `mkdir -p gates; ${script.replace('-e began', '-e gates/began').replace('touch written', 'touch gates/written')}`,
    );
    assert.match(stderr, NO_STDIN, stdout);
  });
});

describe('the answer of a program that fails', () => {
  it('is what it wrote to stdout, in text and in an envelope', async () => {
    project.write('a.txt', 'one\n');
    project.write('b.txt', 'two\n');
    const diff = await text('exec', '--', 'diff', 'a.txt', 'b.txt');
    assert.deepEqual([diff.stdout, diff.code], ['1c1\n< one\n---\n> two\n', 1]);
    const { error } = await project.envelope(['run', 'fails', '--no-stream']);
    assert.deepEqual([error.details.data, error.details.stderr], [{ output: 'partly' }, ['why']]);
    assert.match((await text('show', error.details.run_id)).stdout, /\npartly\n/);
    assert.equal((await text('wait', error.details.run_id)).stdout, 'partly\n');
  });

  it('is written whole where it is long', async () => {
    const { stdout, code } = await text('exec', '--', 'sh', '-c', 'seq 1 20000; exit 1');
    assert.equal(code, 1);
    assert.equal(stdout.split('\n').length, 20_001);
  });
});

describe('the hint of a failed run', () => {
  it('is in its log, and so in show and in what follows it', async () => {
    const { error } = await project.envelope(['exec', '--no-stream', '--', 'sh', '-c', 'exit 1']);
    assert.match(error.hint, /started in an empty folder.*--read \.$/);
    const id = error.details.run_id;
    assert.equal(project.events(id).at(-1)!.hint, error.hint);
    assert.equal((await project.envelope(['show', id])).data.hint, error.hint);
    assert.ok((await text('show', id)).stdout.includes(error.hint));
    assert.equal((await project.envelope(['attach', id, '--no-stream'])).error.hint, error.hint);
  });

  it('is shown at a terminal, once', { skip: noTerminal }, async () => {
    const terminal = new Terminal(project, ['exec', '--', 'sh', '-c', 'exit 1']);
    await terminal.ended;
    assert.equal(terminal.text.split('started in an empty folder').length, 2, terminal.text);
    const missing = new Terminal(project, ['exec', '--', 'cat', 'a.txt2', '/nowhere/a']);
    await missing.ended;
    assert.match(missing.text, /failed/);
  });
});

describe('the next command', () => {
  it('of a dry run names no token where there is none', async () => {
    project.write(
      'tools/reads/tool.yaml',
      YAML('reads', 'command: ["true"]\nadapter: plain\neffects: reads\n'),
    );
    const { data, meta } = await project.envelope(['run', 'reads', '--dry-run']);
    assert.equal(data.token, null);
    assert.deepEqual(meta.next, ['acor run reads']);
  });

  it('of a flag of one letter is no flag that differs in this letter', async () => {
    project.write(
      'tools/letters/tool.yaml',
      YAML(
        'letters',
        'command: ["true"]\nadapter: plain\ninputs: [{ name: L, type: path, flag: -L }, { name: raw_output, type: bool }]\n',
      ),
    );
    const { error } = await project.envelope(['run', 'letters', '-r']);
    assert.doesNotMatch(error.message, /did you mean/);
    assert.match(error.hint, /Those with this letter: --raw-output\./);
    const other = await project.envelope(['run', 'letters', '--raw-otput']);
    assert.match(other.error.message, /did you mean --raw-output\?/);
  });

  it('of show repeats the call, whatever the run was', async () => {
    const callOf = async (id: string) => /^call +(.*)$/m.exec((await text('show', id)).stdout)![1]!;
    const flow = await project.envelope(['workflow', 'run', 'two', '--no-stream']);
    const call = await callOf(flow.data.run_id);
    assert.match(call, /^acor workflow run \S+two\.yaml$/);
    assert.equal((await project.acor([...call.split(' ').slice(1), '--no-stream'])).code, 0);
    const program = await project.envelope(['exec', '--no-stream', '--read', '.', '--', 'ls', 'count.sh']);
    assert.equal(await callOf(program.data.run_id), 'acor exec --read . -- ls count.sh');
    const pipe = await project.envelope(['pipe', 'fails', 'eats', '--no-stream']);
    assert.equal(await callOf(pipe.error.details.run_id), 'acor pipe fails eats');
  });

  it('of a retry that is refused is a retry', async () => {
    const running = project.start(['run', 'heeds_cancel']);
    const { run_id } = await running.event('start');
    spawnSync('kill', ['-KILL', String(project.record(String(run_id))!.pid)]);
    await running.finished;
    const { error, meta } = await project.envelope(['retry', String(run_id), '--no-stream']);
    assert.equal(error.code, 'E_OUTCOME_UNKNOWN');
    assert.equal(meta.next.at(-1), `acor retry ${run_id} --force`);
    const resumed = await project.envelope(['resume', String(run_id), '--no-stream']);
    assert.equal(resumed.meta.next.at(-1), `acor resume ${run_id} --force`);
  });
});

describe('the artifacts of a workflow', () => {
  it('are those of its steps, and can be read by their number and path', async () => {
    const { data } = await project.envelope(['workflow', 'run', 'two', '--no-stream']);
    const listed = (await project.envelope(['artifacts', data.run_id])).data.artifacts;
    assert.equal(listed.length, 2);
    for (const { path, run_id } of listed) assert.ok(path.includes(`/${run_id}/`) && run_id !== data.run_id);
    assert.equal((await project.acor(['artifact', data.run_id, '2', '--format', 'text'])).stdout, 'made\n');
    const read = await project.envelope(['artifact', data.run_id, listed[0].path]);
    assert.equal(read.data.content, 'made\n');
    assert.equal((await project.envelope(['show', data.run_id])).data.artifacts.length, 2);
  });
});

describe('Ctrl-C in a pipe of the shell', () => {
  it('is said to cancel the run, and not that the run continues', async () => {
    using own = new TestProject({ config: WITHOUT_SANDBOX });
    const gate = own.path('gate');
    own.write(
      'tools/writes/cli.sh',
      `#!/bin/sh
echo '{"type":"start"}'
until [ -e "$CANCEL_FILE" ]; do sleep 0.05; done
echo '{"type":"log","level":"info","msg":"seen"}'
until [ -e ${gate} ]; do sleep 0.05; done
while :; do echo '{"type":"log","level":"info","msg":"more"}'; sleep 0.02; done
`,
      0o755,
    );
    own.write('.acor/config.yaml', WITHOUT_SANDBOX.replace('cancel_grace_s: 0.3', 'cancel_grace_s: 60'));
    const running = own.start(['run', 'writes']);
    const { run_id } = await running.event('start');
    running.child.kill('SIGINT');
    await running.event('log');
    running.child.stdout!.destroy();
    own.write('gate', '');
    await until(() => existsSync(own.path('.runs', String(run_id), 'events.jsonl')));
    await until(() => own.events(String(run_id)).length > 20);
    spawnSync('kill', ['-INT', String(running.child.pid)]);
    const { stderr } = await running.finished;
    assert.match(stderr, new RegExp(`run ${run_id} is being cancelled\\.`));
    assert.doesNotMatch(stderr, /continues/);
    assert.equal(own.record(String(run_id))!.state, 'cancelled');
  });
});

describe('a question', () => {
  const ask = (question: object, ...more: string[]) => [
    ...['run', 'asks_any', '--no-stream', ...more],
    ...['--questions', JSON.stringify([question])],
  ];

  it('that is open at the deadline is named, with the ways to answer it', async () => {
    const { error } = await project.envelope(ask({ action: 'first', msg: 'Which?' }, '--timeout', '600'));
    assert.equal(error.code, 'E_ACTION_REQUIRED');
    await project.envelope(['cancel', error.details.run_id]);
    // A tool with an SDK looks at the deadline, too, and may be the first to see it.
    const asks = '{"type":"action_required","action_id":"a-1","action":"first","blocking":true}';
    project.write('tools/asks_by_hand/cli.sh', `#!/bin/sh\necho '${asks}'\nexec sleep 600\n`, 0o755);
    const late = await project.envelope(['run', 'asks_by_hand', '--no-stream', '--timeout', '2', '--detach']);
    await project.envelope(['wait', late.data.run_id, '--until', 'ending']);
    const { data } = await project.envelope(['show', late.data.run_id]);
    assert.equal(data.code, 'E_DEADLINE');
    assert.match(data.message, /while the question 'first' was open$/);
    assert.match(data.hint, /--answer first=VALUE/);
  });

  it('whose answer only the caller knows has the form of the command that answers', async () => {
    const schema = { type: 'object', required: ['name'], properties: { name: { type: 'string' } } };
    const { error, meta } = await project.envelope(ask({ action: 'first', schema }));
    const { run_id, questions } = error.details;
    const form = `acor answer ${run_id} ${questions[0].action_id} --value JSON`;
    assert.equal(questions[0].answer_with, form);
    assert.ok(error.hint.includes(form), error.hint);
    assert.deepEqual(meta.next, [`acor attach ${run_id}`]);
    assert.match((await text('show', run_id)).stdout, new RegExp(`^answer +${form}$`, 'm'));
    const words = form.replace('JSON', '{"name":"x"}').split(' ').slice(1);
    assert.equal((await project.envelope(words)).ok, true);
    assert.equal((await project.envelope(['wait', run_id])).data.state, 'completed');
    const known = { ...schema, properties: { name: { type: 'string', enum: ['x'] } } };
    const offered = await project.envelope(ask({ action: 'first', schema: known }));
    assert.match(offered.meta.next[0], /--value '\{"name":"x"\}'$/);
    assert.equal((await project.acor(['cancel', offered.error.details.run_id])).code, 0);
  });

  it('of a run that a tool has started is reported to the readers of that tool', async () => {
    project.write(
      'tools/starts/tool.yaml',
      YAML('starts', 'adapter: plain\nentry: cli.sh\npermissions: { commands: [acor] }\n'),
    );
    project.write(
      'tools/starts/cli.sh',
      '#!/bin/bash\nacor run asks_any --questions \'[{"action":"first","options":[{"id":"yes"},{"id":"no"}]}]\'\n',
      0o755,
    );
    const running = project.start(['run', 'starts']);
    const { run_id } = await running.event('runner_start');
    const reported = () =>
      project.events(String(run_id)).find(({ msg }) => /waits for an answer$/.test(String(msg)));
    await until(() => reported() !== undefined);
    const child = String(reported()!.child_run_id);
    const { data, meta } = await project.envelope(['show', String(run_id)]);
    assert.deepEqual(
      data.questions.map(({ run_id, action }: { run_id: string; action: string }) => [run_id, action]),
      [[child, 'first']],
    );
    const listed = await project.envelope(['decisions', String(run_id), '--open']);
    assert.equal(listed.data.decisions[0].run_id, child);
    assert.ok(meta.next[0].startsWith(`acor answer ${child} `), meta.next[0]);
    assert.equal((await project.acor(meta.next[0].split(' ').slice(1))).code, 0);
    running.child.stdin!.end();
    await running.finished;
    assert.equal(project.record(String(run_id))!.state, 'completed');
    assert.ok(readFileSync(project.path('.runs', child, 'events.jsonl'), 'utf8').includes('action_answered'));
  });
});

it('why a step failed is shown at a terminal below the end of its workflow', {
  skip: noTerminal,
}, async () => {
  project.write('.acor/workflows/breaks.yaml', 'name: breaks\nsteps: [{ name: only, tool: fails }]\n');
  const terminal = new Terminal(project, ['workflow', 'run', 'breaks']);
  assert.equal(await terminal.ended, 1);
  assert.match(terminal.text.replaceAll('\r', ''), /The last lines of r-[0-9a-z]{16}:\n│ why\n$/);
  // The control: of a tool itself, the view has shown them already.
  const alone = new Terminal(project, ['run', 'fails']);
  assert.equal(await alone.ended, 1);
  assert.doesNotMatch(alone.text, /The last lines of/);
});

describe('the words behind -- directly after the name of a tool', () => {
  const words = async (...args: string[]) => {
    project.write(
      'tools/lists/tool.yaml',
      YAML(
        'lists',
        'command: [printf, "%s|"]\nadapter: plain\ninputs: [{ name: raw, type: bool, short: -r }, { name: to, type: string }, { name: word, positional: true, multiple: true }]\n',
      ),
    );
    const { data, error } = await project.envelope(['run', '--no-stream', 'lists', ...args]);
    return data?.result.data.output ?? error.code;
  };

  it('are the flags and arguments of the tool', async () => {
    assert.equal(await words('--', '-r', 'a'), await words('-r', 'a'));
    assert.equal(await words('--', '--to', 'b', 'a'), await words('--to', 'b', 'a'));
    for (const own of [['--timeout', '9'], ['--no-stream'], ['--timeout=9', '--no-stream']])
      assert.equal(await words(...own, '--', '--to', 'b', 'a'), await words('--to', 'b', 'a'));
    assert.match(await words('--timeout', '9', 'a', '--', '--to'), /a\|--to\|$/);
    assert.notEqual(await words('--', '-r', 'a'), await words('a'));
  });

  it('are its arguments where none is a flag of it, and behind a second --', async () => {
    assert.match(await words('--', '-x', 'a'), /-x\|a\|$/);
    assert.match(await words('--', '-r', '--', '-x'), /-x\|$/);
    // The control: behind an argument, -- ends the flags of the tool, too.
    assert.match(await words('a', '--', '--to'), /a\|--to\|$/);
  });
});

describe('the flags of every command', () => {
  for (const call of [
    'run makes --dry-run',
    'workflow run two --dry-run',
    'policy check makes',
    "schedule add makes --cron '0 3 * * *' --dry-run",
  ])
    it(`are taken behind the name in acor ${call}`, () => {
      const plain = shell(`"$ACOR" ${call}`);
      const asText = shell(`"$ACOR" ${call} --format text`);
      assert.deepEqual([plain.status, asText.status], [0, 0], asText.stdout);
      assert.deepEqual([plain.stdout.startsWith('{"ok":'), asText.stdout.startsWith('{')], [true, false]);
    });

  it('are those of the command that takes the call, in its help', () => {
    assert.match(shell('"$ACOR" policy check counts --help').stdout, /acor policy check counts/);
    assert.match(shell('"$ACOR" learn counts --help').stdout, /acor learn counts/);
  });
});
