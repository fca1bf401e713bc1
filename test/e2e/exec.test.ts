import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { ACOR, readRun, TestProject } from '../support/project.ts';

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
    assert.match(await output('--read', '.', '--', 'ls'), /^data\.txt\nout/m);
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

  it('starts in the current folder when that is an argument, which stays the word that it is', async () => {
    project.write('d.json', '{"a":1}');
    project.write('words.sh', '#!/bin/sh\nprintf "%s|" "$@"; pwd\n', 0o755);
    assert.equal(
      await output('--', './words.sh', '.', 'd.json', '--x=d.json'),
      `.|d.json|--x=d.json|${project.root}`,
    );
    assert.match(await output('--', 'ls', '.'), /^d\.json$/m);
    // In its own folder it would not find them.
    assert.match(
      await output('--', './words.sh', 'd.json'),
      new RegExp(`^${project.path('d.json')}|.*/work$`),
    );
  });

  it('makes a new output and replaces an old one, both only when it succeeds', async () => {
    const copy = ['exec', '--no-stream', '--write', 'made.txt', '--'];
    const made = await project.envelope([...copy, 'cp', 'data.txt', 'made.txt']);
    assert.deepEqual(
      made.data?.artifacts.map(({ path }: { path: string }) => path),
      [project.path('made.txt')],
      JSON.stringify(made.error),
    );
    const content = () => readFileSync(project.path('made.txt'), 'utf8');
    assert.equal(content(), 'content\n');
    const failed = await project.envelope([...copy, 'sh', '-c', 'echo partial > "$0"; exit 1', 'made.txt']);
    assert.equal(failed.error.details.state, 'failed');
    assert.equal(content(), 'content\n');
    assert.equal((await project.envelope([...copy, 'sh', '-c', 'echo new > "$0"', 'made.txt'])).ok, true);
    assert.equal(content(), 'new\n');
    const again = await project.envelope([
      'exec',
      '--no-stream',
      '--write',
      'other.txt',
      '--',
      'sh',
      '-c',
      'echo x > other.txt',
    ]);
    assert.deepEqual(
      [again.error.code, again.error.hint],
      [
        'E_INPUT_NOT_FOUND',
        'Create it first. A file that the program makes may be new where one of the arguments is its path.',
      ],
    );
  });

  it('is refused with a fix that fits a program', async () => {
    const whole = await project.envelope(['exec', '--write', '.', '--', 'ls']);
    assert.equal(whole.error.code, 'E_PERMISSION');
    assert.match(whole.error.hint, /^Name the files and folders in it that the program writes, one --write/);
    const quoted = await project.envelope(['exec', '--', 'cat data.txt']);
    assert.equal(quoted.error.hint, 'Write the program and its arguments as separate words.');
    const { stdout } = await project.acor(quoted.meta.next[0].split(' ').slice(1));
    assert.match(stdout, /"output":"content"/);
    const piped = await project.envelope(['exec', '--', 'echo one | wc -l']);
    assert.deepEqual(piped.meta.next, ["acor exec sh -c 'echo one | wc -l'"]);
    const counted = await project.acor(['exec', 'sh', '-c', 'echo one | wc -l']);
    assert.match(counted.stdout, /"output":"1"/);
    const empty = await project.envelope(['exec', '--no-stream', '--', 'sh', '-c', 'exit 1']);
    assert.match(empty.error.hint, /started in an empty folder.* --read \.$/);
    const silent = await project.envelope([
      'exec',
      '--no-stream',
      '--',
      'curl',
      '-s',
      'https://example.com/x',
    ]);
    if (silent.error.code === 'E_TOOL_FAILED') assert.match(silent.error.hint, /--net example\.com:443$/);
  });

  it('keeps the utilities of a shell beside the programs of --cmd', async () => {
    const sorted = (cmd: readonly string[]) =>
      project.envelope(['exec', ...cmd, '--no-stream', '--', 'sh', '-c', 'echo one | sort']);
    assert.equal((await sorted([])).data?.result.data.output, 'one', 'the control');
    const { data, error } = await sorted(['--cmd', 'perl']);
    assert.equal(data?.result.data.output, 'one', JSON.stringify(error));
  });

  it('gets no path outside of the grant roots, and nothing that only an approval gives', async () => {
    const outside = await project.envelope(['exec', '--read', '/etc', '--', 'ls']);
    assert.equal(outside.error.code, 'E_PERMISSION');
    const everything = await project.envelope(['exec', '--cmd', '*', '--', 'ls']);
    assert.equal(everything.error.code, 'E_POLICY_DENIED');
    const missing = await project.envelope(['exec', 'no-such-program']);
    assert.equal(missing.error.code, 'E_RUNTIME_MISSING');
  });

  it('gets no folder for an empty path, as an unset variable gives it', async () => {
    for (const flag of ['--read', '--write']) {
      const { error } = await project.envelope(['exec', flag, '', '--', 'ls']);
      assert.deepEqual([error.code, error.message], ['E_USAGE', `${flag} is empty`]);
    }
    assert.equal(
      (await project.envelope(['exec', '--read', '.', '--no-stream', '--', 'ls'])).data.state,
      'completed',
    );
  });

  it('gets no folder that holds files of ACOR, whatever the grant roots are, and the refusal says so', async () => {
    const home = project.path('home');
    mkdirSync(join(home, 'out'), { recursive: true });
    project.write('home/.config/acor/config.yaml', `security: { grant_roots: [${home}] }\n`);
    const user = { HOME: home, XDG_CONFIG_HOME: '', XDG_DATA_HOME: '', XDG_CACHE_HOME: '' };
    const write = (folder: string, ...words: string[]) =>
      project.envelope(['exec', '--no-stream', '--write', folder, '--', ...words], {
        env: project.environment(user),
      });
    const { error } = await write(home, 'true');
    assert.match(error.message, /holds \S+\/home\/\.config\/acor, where ACOR keeps its own files/);
    assert.match(
      error.hint,
      /one --write for each\. security\.grant_roots does not open it, because .* approve/,
    );
    const { ok } = await write(join(home, 'out'), 'touch', join(home, 'out/made'));
    assert.ok(ok, 'the control');
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

describe('a program whose caller has a standard input', () => {
  let project: TestProject;
  before(() => {
    project = new TestProject();
    project.write('data.txt', 'content\n');
  });
  after(() => project[Symbol.dispose]());

  function warnings(command: string): string[] | undefined {
    const { stdout } = spawnSync('sh', ['-c', command], {
      cwd: project.root,
      env: { ...project.environment(), ACOR },
      encoding: 'utf8',
    });
    return JSON.parse(stdout.trim().split('\n').at(-1)!).meta.warnings;
  }

  it('does not get it, and the answer says so where it holds data', () => {
    const call = '"$ACOR" exec --no-stream -- wc -w';
    // The pipe holds the data before the program starts.
    const filled = `mkfifo held; exec 3<> held; cat data.txt >&3; ${call} <&3`;
    for (const command of [`${call} < data.txt`, filled])
      assert.match(String(warnings(command)), /does not get your standard input/, command);
    for (const command of [`${call} < /dev/null`, `: | { cat; ${call}; }`, `${call} data.txt < /dev/null`])
      assert.equal(warnings(command), undefined, command);
  });

  it('does not get it, and the answer says so, where another command of the pipeline has not written yet', async () => {
    const pipeline = spawn('sh', ['-c', 'sleep 600 | "$ACOR" exec --no-stream -- wc -w'], {
      cwd: project.root,
      env: { ...project.environment(), ACOR },
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [answer] = (await once(pipeline.stdout, 'data')) as [Buffer];
    process.kill(-pipeline.pid!, 'SIGKILL');
    assert.match(answer.toString(), /does not get your standard input/);
    // The control: the caller holds a pipe open, as many do that never write to it.
    const idle = project.start(['exec', '--no-stream', '--', 'wc', '-w']);
    const { stdout } = await idle.finished;
    assert.equal(JSON.parse(stdout).meta.warnings, undefined, stdout);
  });

  it('gives it all of it with --read -, byte for byte, in further attempts and in a replay, too', async () => {
    const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, at) => (at * 7919) & 255));
    writeFileSync(project.path('in.bin'), bytes);
    const digest = createHash('sha256').update(bytes).digest('hex');
    const shell = (command: string) => {
      const options = {
        cwd: project.root,
        env: { ...project.environment(), ACOR },
        encoding: 'utf8',
      } as const;
      return JSON.parse(spawnSync('sh', ['-c', command], options).stdout);
    };
    // It reads its input, opened by name, and fails at its first attempt.
    const script = `sha256sum /dev/stdin; mkdir .checkpoints/once`;
    const first = shell(`"$ACOR" exec --no-stream --read - -- sh -ec '${script}; exit 20' < in.bin`);
    assert.match(first.error.details.data.output, new RegExp(digest));
    const { stdout } = await project.acor(['retry', first.error.details.run_id, '--no-stream']);
    assert.match(JSON.parse(stdout).error.details.data.output, new RegExp(digest));
    const piped = shell('cat in.bin | "$ACOR" exec --no-stream --read - -- sha256sum');
    assert.equal(piped.data.result.data.output, `${digest}  -`);
    assert.equal(piped.meta.warnings, undefined);
    const again = await project.envelope(['replay', piped.data.run_id, '--execute', '--no-stream']);
    const shown = await project.envelope(['show', again.data.run_id]);
    assert.equal(shown.data.result.data.output, `${digest}  -`);
    const detached = shell('"$ACOR" exec --detach --read - -- sha256sum < in.bin');
    const waited = await project.envelope(['wait', detached.data.run_id]);
    assert.equal(waited.data.result.data.output, `${digest}  -`);
  });

  it('leaves every line of it to the loop around it', () => {
    const loop = 'while read -r word; do "$ACOR" exec --format text -- echo "$word"; done';
    const { stdout } = spawnSync('sh', ['-c', `printf "one\\ntwo\\n" | ${loop}`], {
      cwd: project.root,
      env: { ...project.environment(), ACOR },
      encoding: 'utf8',
    });
    assert.equal(stdout, 'one\ntwo\n');
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

describe('a program that may not write a file of the caller', () => {
  it('is given the flag that names the file, which then works', async () => {
    using project = new TestProject();
    project.write('lines.txt', '1\n2\n');
    project.write('kept.txt', 'before\n');
    const words = ['--', 'sort', '-r', 'lines.txt', '-o', 'kept.txt'];
    const { error } = await project.envelope(['exec', '--no-stream', ...words]);
    const [flag] = /--write \S+kept\.txt/.exec(error.hint) ?? [];
    assert.ok(flag !== undefined, error.hint);
    const { ok } = await project.envelope(['exec', '--no-stream', ...flag.split(' '), ...words]);
    assert.equal(ok, true);
    assert.equal(readFileSync(project.path('kept.txt'), 'utf8'), '2\n1\n');
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

describe('a script that declares no inputs', () => {
  let project: TestProject;
  before(() => {
    project = new TestProject();
    project.write('words.sh', '#!/bin/sh\nprintf "%s|" "$@"\n', 0o755);
    project.write('data.txt', 'content\n');
    project.write('reads.py', 'print(open("data.txt").read())\n');
    project.write('named.sh', '#!/bin/sh\n# acor: name: greet\n# acor: version: 1.0.0\necho hi\n', 0o755);
  });
  after(() => project[Symbol.dispose]());

  it('gets every word behind its path, also those that are flags of ACOR elsewhere', async () => {
    const words = ['--timeout', '5', '--json', '--help', '--dry-run', '--fields=a', '--', '--cwd', '/'];
    for (const before of [[], ['--']]) {
      const { data } = await project.envelope(['run', '--no-stream', './words.sh', ...before, ...words]);
      assert.equal(data.result.data.output, `${words.join('|')}|`);
    }
    const { data } = await project.envelope([
      'run',
      '--dry-run',
      '--timeout',
      '7',
      './words.sh',
      '--timeout',
      '5',
    ]);
    assert.deepEqual([data.limits.timeout_s, data.argv.slice(-2)], [7, ['--timeout', '5']]);
  });

  it('leaves to ACOR the flags that it does not declare once it declares inputs', async () => {
    project.write(
      'one.sh',
      '#!/bin/sh\n# acor: inputs:\n# acor:   - { name: who, type: string }\nprintf "%s|" "$@"\n',
      0o755,
    );
    const { data } = await project.envelope(['run', './one.sh', '--who', 'Ada', '--no-stream']);
    assert.equal(data.result.data.output, '--who|Ada|');
  });

  it('is reported with where to write the manifest that it has not', async () => {
    project.write('calls.sh', '#!/bin/sh\nperl -e 1\n', 0o755);
    const { error } = await project.envelope(['run', '--no-stream', './calls.sh']);
    assert.match(
      error.hint,
      /In the header of calls\.sh \(lines that begin with "# acor:"\), under permissions\.commands, write: - perl/,
    );
    project.write('calls.js', 'console.error("getaddrinfo ENOTFOUND"); process.exit(1);\n');
    const script = await project.envelope(['run', '--no-stream', './calls.js']);
    assert.match(script.error.hint, /In the header of calls\.js \(lines that begin with "\/\/ acor:"\)/);
    const program = await project.envelope([
      'exec',
      '--no-stream',
      '--',
      'sh',
      '-c',
      'echo ENETUNREACH >&2; exit 1',
    ]);
    assert.match(program.error.hint, /pass the flag --net/);
    for (const { hint } of [error, script.error, program.error]) assert.doesNotMatch(hint, /tool\.yaml/);
  });

  it('that misses a file of its caller: says once that it started in an empty workspace', async () => {
    const run = await project.run(['./reads.py']);
    const warnings = run.of('runner_warning').filter(({ msg }) => String(msg).includes('empty workspace'));
    assert.equal(warnings.length, 1, run.stdout);
    assert.match(
      String(warnings[0]!.hint),
      /Pass data\.txt as an argument.*in the header of reads\.py .*write: cwd: project/,
    );
    const { error } = await project.envelope(['run', '--no-stream', './reads.py']);
    assert.equal(error.hint, warnings[0]!.hint);
    const program = await project.envelope(['exec', '--no-stream', '--', 'sh', '-c', 'cat data.txt']);
    assert.match(program.error.hint, /pass the flag --read \.$/);
    const helped = await project.envelope([
      'exec',
      '--no-stream',
      '--read',
      '.',
      '--',
      'sh',
      '-c',
      'cat data.txt',
    ]);
    assert.equal(helped.data.result.data.output, 'content');
    const nowhere = await project.run(['./words.sh']);
    assert.equal(nowhere.of('runner_warning').length, 0);
    project.write('probes.sh', '#!/bin/sh\ncat none.txt ../../../../../etc/passwd\n', 0o755);
    assert.equal((await project.run(['./probes.sh'])).of('runner_warning').length, 0);
  });

  it('is shown by the name in its header', async () => {
    const { of, end } = await project.run(['./named.sh']);
    assert.deepEqual(
      [of('runner_start')[0]!.title, of('runner_start')[0]!.tool],
      ['greet', project.path('named.sh')],
    );
    const { data } = await project.envelope(['show', String(end.run_id)]);
    assert.deepEqual([data.title, data.tool_version], ['greet', '1.0.0']);
    const shown = await project.acor(['show', String(end.run_id), '--format', 'text']);
    assert.match(shown.stdout, /completed {2}greet 1\.0\.0$/m);
  });

  it('must write a result when its header is strict', async () => {
    project.write('strict.sh', '#!/bin/sh\n# acor: strict: true\necho hi\n', 0o755);
    assert.equal((await project.envelope(['run', '--no-stream', './strict.sh'])).error.code, 'E_NO_RESULT');
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

  it('gets undeclared words behind its positional inputs, as they were written', async () => {
    project.write('tools/copies/main', '#!/bin/sh\nprintf "%s|" "$@"\n', 0o755);
    const inputs = '[{ name: from, positional: true }, { name: fast, type: bool }]';
    project.write(
      'tools/copies/tool.yaml',
      `name: copies\nversion: 1.0.0\nadapter: plain\nextra_args: true\ninputs: ${inputs}\n`,
    );
    const { data } = await project.envelope(['run', '--no-stream', 'copies', 'a', '-p', 'b', '--fast', 'c']);
    assert.equal(data.result.data.output, '--fast|-p|a|b|c|');
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
