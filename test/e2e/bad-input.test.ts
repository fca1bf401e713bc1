import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { parametersOf } from '../../src/compose/parameters.ts';
import { ROUTES } from '../../src/operations/index.ts';
import { ACOR, HANG_MS, LAUNCHER, parseLines, processesOf, TestProject, until } from '../support/project.ts';
import { ProjectInProcess } from '../support/project-in-process.ts';

const SCRIPT = '#!/bin/bash\necho \'{"type":"result","status":"ok"}\'\n';

/** Asserts a rejection before anything started: an envelope with code, hint and exit code; no run, no process, no output. */
async function assertRefused(
  project: TestProject,
  args: readonly string[],
  expected: { code: string; exit: number; message?: RegExp; hint?: RegExp },
): Promise<void> {
  const before = project.runIds();
  const { ok, code, error } = await project.envelope(args);
  assert.deepEqual([ok, error.code, code], [false, expected.code, expected.exit], error.message);
  assert.match(error.message, expected.message ?? /./);
  assert.match(error.hint, expected.hint ?? /./);
  assert.deepEqual(project.runIds(), before);
  assert.deepEqual(processesIn(project), []);
}

/** The processes that have a path of the project in their command line. */
function processesIn({ root }: TestProject): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        return [readFileSync(`/proc/${pid}/cmdline`, 'utf8')];
      } catch {
        return [];
      }
    })
    .filter((line) => line.includes(root));
}

/** A command line as a shell runs it; killed when it hangs. */
function shell(project: TestProject, script: string, env: Record<string, string | undefined> = {}) {
  const given = { PATH: process.env.PATH, HOME: process.env.HOME, LANG: 'C.UTF-8', ...env };
  return spawnSync('bash', ['-c', script], {
    cwd: project.root,
    env: Object.fromEntries(
      Object.entries(given).filter(([, value]) => value !== undefined),
    ) as NodeJS.Dict<string>,
    encoding: 'utf8',
    timeout: HANG_MS,
    killSignal: 'SIGKILL',
    maxBuffer: 1 << 26,
  });
}

describe('a bad call', () => {
  let project: ProjectInProcess;
  before(() => {
    project = new ProjectInProcess({ tools: ['quick', 'reads_file', 'writes_output', 'does'] });
    project.write('tools/counts/cli.sh', SCRIPT, 0o755);
    project.write(
      'tools/counts/tool.yaml',
      'name: counts\nversion: 1.0.0\ninputs:\n  - { name: count, type: int, required: true }\n',
    );
    project.write('data.txt', 'one\n');
    symlinkSync('/etc/passwd', project.path('link.txt'));
    symlinkSync('/etc', project.path('folder'));
    symlinkSync('round', project.path('round'));
  });
  after(() => project[Symbol.dispose]());

  for (const [what, args, code, message, hint] of [
    ['a tool that does not exist', ['run', 'quikc'], 'E_TOOL_NOT_FOUND', /quikc/, /quick/],
    ['a tool without a name', ['run', ''], 'E_TOOL_NOT_FOUND', /''/, /^List the tools/],
    [
      'a tool that is a path',
      ['run', '../quick'],
      'E_TOOL_NOT_FOUND',
      /no file .*\/quick/,
      /^Check the path/,
    ],
    ['no tool at all', ['run'], 'E_USAGE', /<tool> is required/, /--help/],
    ['a missing required input', ['run', 'counts'], 'E_USAGE', /'count' is required/, /--count/],
    ['a wrong type', ['run', 'counts', '--count', 'many'], 'E_USAGE', /count.*many/, /<int>/],
    ['an unknown flag', ['run', 'counts', '--cuont', '3'], 'E_USAGE', /--cuont.*--count/, /--count/],
    [
      'an absent file',
      ['run', 'reads_file', 'absent.txt'],
      'E_INPUT_NOT_FOUND',
      /absent\.txt/,
      /ACOR looked at/,
    ],
    ['an empty path', ['run', 'reads_file', ''], 'E_USAGE', /empty/, /path/],
    [
      'a path outside the roots',
      ['run', 'reads_file', '/etc/passwd'],
      'E_PERMISSION',
      /outside/,
      /grant_roots/,
    ],
    [
      'a path out through ..',
      ['run', 'reads_file', '../../etc/passwd'],
      'E_PERMISSION',
      /outside/,
      /grant_roots/,
    ],
    [
      'a path out through a symlink',
      ['run', 'reads_file', 'link.txt'],
      'E_PERMISSION',
      /outside/,
      /grant_roots/,
    ],
    [
      'one through a linked folder',
      ['run', 'reads_file', 'folder/passwd'],
      'E_PERMISSION',
      /outside/,
      /grant_roots/,
    ],
    ['a link in a circle', ['run', 'reads_file', 'round'], 'E_USAGE', /ELOOP/, /circle/],
    [
      'an output among ACOR’s files',
      ['run', 'writes_output', '--output', '.runs/x'],
      'E_PERMISSION',
      /\.runs/,
      /path/,
    ],
    ['a negative time limit', ['run', '--timeout', '-1', 'quick'], 'E_USAGE', /timeout/, /--help/],
    ['an unknown command', ['rnu', 'quick'], 'E_USAGE', /rnu/, /run|tools/],
    ['a --cwd that is not a folder', ['--cwd', 'data.txt', 'list'], 'E_USAGE', /not a directory/, /./],
  ] as const) {
    it(`with ${what} fails with ${code}, and starts nothing`, () =>
      assertRefused(project, args, { code, exit: 1, message, hint }));
  }

  it('is the cause of each failure: the same tools run when called correctly (the control)', async () => {
    assert.equal((await project.run(['reads_file', 'data.txt'])).end.state, 'completed');
    assert.equal((await project.run(['counts', '--count', '3'])).end.state, 'completed');
  });

  it('takes a newline, a tab or 100 KB as the value of its flag', async () => {
    const long = 'x'.repeat(100_000);
    for (const value of ['a\nb', '\t', ' ', long, '$(id)', "'; id; '", '\u001b[31m', '--', '--help']) {
      const { of, code } = await project.run(['does', '--script', 'true', `--line=${value}`]);
      assert.equal(code, 0);
      const [line] = of('runner_log');
      if (value.trim() !== '') assert.equal(line!.line, value.split('\n')[0]);
    }
  });
});

describe('a value of extreme size', () => {
  it('is rejected where it makes no sense, and does no harm elsewhere', async () => {
    using project = new ProjectInProcess({ tools: ['quick', 'does'] });
    for (const seconds of ['1e300', '1e13', '5000000'])
      assert.equal((await project.run(['--timeout', seconds, 'quick'])).end.state, 'completed', seconds);
    const [runId] = project.runIds();
    for (const args of [
      ['run', '--timeout', '1e999', 'quick'],
      ['run', '--timeout', '0', 'quick'],
      ['run', '--retries', '-1', 'quick'],
      ['wait', String(runId), '--timeout', '1e300'],
      ['logs', String(runId), '--since', '9007199254740993'],
      ['runs', '--limit', '99999999999999999999'],
    ])
      await assertRefused(project, args, { code: 'E_USAGE', exit: 1 });
    assert.deepEqual((await project.envelope(['clean', '--older-than', '1e308'])).data.removed, []);
  });

  it('is refused before the start when the system takes none so long; a NUL byte is, too', async () => {
    using project = new ProjectInProcess({ tools: ['does'] });
    const withLine = (bytes: number) =>
      project.write('long.json', JSON.stringify({ script: 'true', line: 'x'.repeat(bytes) }));
    withLine(131_072);
    const { error } = await project.envelope(['run', 'does', '--input-json', '@long.json']);
    assert.equal(error.code, 'E_USAGE');
    assert.match(error.message, /'line' has 131072 bytes, and the system takes at most 131071/);
    assert.match(error.hint, /in a file/);
    assert.deepEqual(project.runIds(), []);
    withLine(131_071);
    const { end } = await project.run(['does', '--input-json', '@long.json']);
    assert.equal(end.state, 'completed');
    project.write('nul.json', JSON.stringify({ script: 'true', line: 'a\u0000b' }));
    await assertRefused(project, ['run', 'does', '--input-json', '@nul.json'], { code: 'E_USAGE', exit: 1 });
  });

  it('is refused where the tool would get another number', async () => {
    using project = new ProjectInProcess();
    project.write(
      'tools/takes/tool.yaml',
      'name: takes\nversion: 1.0.0\ndescription: Takes data.\ncommand: [echo]\nadapter: plain\ninputs: [{ name: data, type: json }]\n',
    );
    for (const number of ['1e400', '12345678901234567890', '1e-400'])
      for (const args of [
        ['--data', number],
        ['--data', `{"a":[${number}]}`],
        ['--input-json', `{"data":${number}}`],
      ]) {
        const { error } = await project.envelope(['run', 'takes', ...args]);
        assert.equal(error.code, 'E_USAGE', args.join(' '));
        assert.ok(error.message.includes(`the number ${number}`), error.message);
      }
    const { data } = await project.envelope(['run', 'takes', '--no-stream', '--data', '{"a":[1e3,"1e400"]}']);
    assert.match(data.result.data.output, /--data=?\s?\{"a":\[1000,"1e400"\]\}/);
  });
});

describe('an invalid or unknown run id', () => {
  let project: ProjectInProcess;
  before(() => {
    project = new ProjectInProcess({ tools: ['quick'] });
    project.write('x/metadata.json', '{}');
  });
  after(() => project[Symbol.dispose]());

  it('is E_RUN_NOT_FOUND for every command that takes a run, and is never used as a path', async () => {
    const takers: string[] = [];
    for (const { command, load, hidden } of ROUTES) {
      const op = await load();
      if (hidden || !(op.positionals ?? []).includes('run')) continue;
      takers.push(command);
      const further = parametersOf(op).filter(
        (each) => each.isPositional && each.isRequired && each.key !== 'run',
      );
      for (const id of [
        'r-0000000000000000',
        '../x',
        '',
        '.',
        '/etc',
        'r-../x',
        `r-${'0'.repeat(300)}`,
        'r-a\nb',
      ]) {
        const { code, error, meta } = await project.envelope([
          ...command.split(' '),
          id,
          ...further.map(() => 'x'),
        ]);
        assert.deepEqual(
          [error?.code, code],
          ['E_RUN_NOT_FOUND', 1],
          `${command} '${id}': ${error?.message}`,
        );
        assert.match(error.hint, /List the runs\.$/);
        assert.ok(meta.next.includes('acor runs'), String(meta.next));
      }
    }
    assert.ok(takers.length >= 8, `only ${takers.join(', ')} take a run`);
    assert.equal(existsSync(project.runsDir), false);
  });
});

describe('an invalid tool folder', () => {
  const letters = 'abcdefgh';
  const bomb = [...letters].map((letter, index) => {
    const one = index === 0 ? 'x' : `*${letters[index - 1]}`;
    return `${letter}: &${letter} [${Array(9).fill(one).join(',')}]\n`;
  });
  const broken: Record<string, [manifest: string, message: RegExp]> = {
    unknown_key: [
      'name: unknown_key\nversion: 1.0.0\ndescripton: x\n',
      /tool\.yaml:3:1: unknown key 'descripton'.*'description'/,
    ],
    wrong_type: [
      'name: wrong_type\nversion: 1.0.0\ntimeout_s: soon\n',
      /tool\.yaml:3:12: 'timeout_s' must be a number/,
    ],
    twice: ['name: twice\nname: twice\nversion: 1.0.0\n', /tool\.yaml:2:1: the key 'name'.*is a duplicate/],
    bomb: [`name: bomb\nversion: 1.0.0\n${bomb.join('')}description: *h\n`, /the alias/],
    large: [`name: large\nversion: 1.0.0\ndescription: ${'x'.repeat(1_000_000)}\n`, /1000041 bytes/],
    alias: ['name: alias\nversion: &v 1.0.0\ndescription: *v\n', /tool\.yaml:3:14: the alias \*v/],
    a_tag: ['name: a_tag\ndescription: !!js/function "function(){}"\n', /tool\.yaml:2:14: .*js\/function/],
    too_large: [`name: too_large\n# ${'x'.repeat(256 * 1024)}\n`, /at most 262144 are allowed/],
    preloads: [
      'name: preloads\nenv: { allow: [LD_PRELOAD] }\n',
      /tool\.yaml:2:16: .*'LD_PRELOAD': .*the loader/,
    ],
    no_yaml: ['name: [\n', /not valid YAML/],
    binary: ['\u0000\u0001\u0002', /tool\.yaml/],
    a_list: ['- name: a_list\n', /tool\.yaml/],
  };
  let project: ProjectInProcess;
  before(() => {
    project = new ProjectInProcess({ tools: ['quick'] });
    for (const [name, [manifest]] of Object.entries(broken)) {
      project.write(`tools/${name}/cli.sh`, SCRIPT, 0o755);
      project.write(`tools/${name}/tool.yaml`, manifest);
    }
    for (const folder of ['twin_a', 'twin_b']) {
      project.write(`tools/${folder}/cli.sh`, SCRIPT, 0o755);
      project.write(`tools/${folder}/tool.yaml`, 'name: twin\nversion: 1.0.0\n');
    }
    project.write('tools/linked/cli.sh', SCRIPT, 0o755);
    symlinkSync('/etc/hostname', project.path('tools/linked/tool.yaml'));
    symlinkSync('loop', project.path('tools/loop'));
    symlinkSync('.', project.path('tools/self'));
    symlinkSync('/usr/bin', project.path('tools/elsewhere'));
  });
  after(() => project[Symbol.dispose]());

  for (const [name, [, message]] of Object.entries(broken)) {
    it(`'${name}' is rejected as E_MANIFEST_INVALID, with the place`, () =>
      assertRefused(project, ['run', name], { code: 'E_MANIFEST_INVALID', exit: 2, message }));
  }

  it('with a manifest that is a link out of the project is rejected, and the error quotes nothing of the target', () =>
    assertRefused(project, ['run', 'linked'], {
      code: 'E_MANIFEST_INVALID',
      exit: 2,
      message: /symlink to \/etc\/hostname, outside/,
    }));

  it('with the name of another tool is rejected, and the error names both', () =>
    assertRefused(project, ['run', 'twin'], {
      code: 'E_MANIFEST_INVALID',
      exit: 2,
      message: /twin_a\/cli\.sh and .*twin_b\/cli\.sh/,
    }));

  it('does not hide the other tools, and ACOR follows no link out of the tools folder', async () => {
    const { data } = await project.envelope(['list']);
    const names = [...Object.keys(broken), 'twin', 'elsewhere', 'linked', 'loop', 'self'];
    const usable = data.tools.filter(({ status }: { status: string }) => status === 'ok');
    assert.deepEqual(
      usable.map(({ name }: { name: string }) => name),
      ['quick'],
    );
    for (const { name } of data.tools) assert.ok(name === 'quick' || names.includes(name), name);
    for (const name of Object.keys(broken))
      assert.ok(data.tools.some((tool: { name: string }) => tool.name === name));
    for (const { status, problems } of data.tools) assert.equal(problems.length > 0, status === 'broken');
    assert.equal((await project.run(['quick'])).end.state, 'completed');
  });

  it('that vanishes between a list and a run is E_TOOL_NOT_FOUND', async () => {
    project.write('tools/fleeting/cli.sh', SCRIPT, 0o755);
    const { data } = await project.envelope(['list', '--filter', 'fleeting']);
    assert.deepEqual([data.tools[0].name, data.tools[0].status], ['fleeting', 'ok']);
    rmSync(project.path('tools/fleeting'), { recursive: true });
    await assertRefused(project, ['run', 'fleeting'], { code: 'E_TOOL_NOT_FOUND', exit: 1 });
  });

  it('names the missing interpreter of its first line', async () => {
    project.write('tools/no_interpreter/main', '#!/nonexistent/interpreter\n', 0o755);
    await assertRefused(project, ['run', 'no_interpreter'], {
      code: 'E_RUNTIME_MISSING',
      exit: 2,
      message: /\/nonexistent\/interpreter/,
      hint: /interpreter/,
    });
    rmSync(project.path('tools/no_interpreter'), { recursive: true });
  });

  it('without the mode bit x runs if ACOR knows how to start its language, else the error names what is missing', async () => {
    project.write('tools/no_mode/cli.sh', SCRIPT);
    chmodSync(project.path('tools/no_mode/cli.sh'), 0o644);
    assert.equal((await project.run(['no_mode'])).end.state, 'completed');
    project.write('tools/no_mode_either', '#!/bin/bash\n', 0o644);
    await assertRefused(project, ['run', 'no_mode_either'], { code: 'E_TOOL_NOT_FOUND', exit: 1 });
  });
});

describe('an invalid configuration', () => {
  const NEEDS_CONFIG = ['list', 'runs', 'health', 'verify', 'config show', 'run quick', 'describe quick'];
  for (const [what, text, place] of [
    ['is no YAML', 'version: [\n', /config\.yaml:\d+:\d+/],
    ['has an unknown key', 'version: 1\nprojct: {}\n', /config\.yaml:2:1: unknown key 'projct'.*'project'/],
    ['has a wrong type', 'version: 1\nenvironment: { timeout_s: soon }\n', /config\.yaml:2:27/],
    ['has a key twice', 'version: 1\nversion: 1\n', /config\.yaml:2:1/],
    ['is of another version', 'version: 7\n', /config\.yaml:1:10/],
    ['is one MB of text', `project: { name: ${'x'.repeat(1_000_000)} }\n`, /bytes/],
  ] as const) {
    it(`because it ${what} is E_CONFIG_INVALID with its place, for every command that reads it`, async () => {
      const project = new ProjectInProcess({ tools: ['quick'], config: text });
      for (const command of NEEDS_CONFIG) {
        const { code, error } = await project.envelope(command.split(' '));
        assert.equal(code, 2, command);
        const reported =
          command === 'health' ? error.details.checks[0].detail : `${error.code}: ${error.message}`;
        assert.match(reported, /^E_CONFIG_INVALID: /);
        assert.match(reported, place);
        assert.ok(error.hint);
      }
      assert.equal((await project.envelope(['version'])).ok, true);
      assert.equal(existsSync(project.runsDir), false);
      project[Symbol.dispose]();
    });
  }
});

describe('a broken environment', () => {
  let project: TestProject;
  before(() => {
    project = new TestProject({ tools: ['quick'] });
  });
  after(() => project[Symbol.dispose]());

  it('with a runs_dir that is a file is E_STORAGE, and health reports the fix', async () => {
    const odd = new TestProject({
      tools: ['quick'],
      config: 'version: 1\nproject: { name: t, runs_dir: taken }\n',
    });
    writeFileSync(odd.path('taken'), 'not mine');
    for (const args of [
      ['run', 'quick'],
      ['runs'],
      ['verify'],
      ['clean', '--keep', '1'],
      ['show', 'r-0000000000000000'],
    ]) {
      const { code, error } = await odd.envelope(args);
      assert.deepEqual([error.code, code], ['E_STORAGE', 2], args.join(' '));
      assert.match(error.message, /taken/);
    }
    const { code, error } = await odd.envelope(['health']);
    const check = error.details.checks.find(({ name }: { name: string }) => name === 'store.permissions');
    assert.deepEqual([code, check.status], [2, 'blocked']);
    assert.equal(spawnSync('sh', ['-c', check.fix]).status, 0);
    assert.equal((await odd.run(['quick'])).end.state, 'completed');
    assert.equal(readFileSync(odd.path('taken.old'), 'utf8'), 'not mine');
    odd[Symbol.dispose]();
  });

  it('with a deleted working directory is an error, and nothing runs in another folder', () => {
    const gone = mkdtempSync(join(tmpdir(), 'acor-gone-'));
    const before = project.runIds();
    for (const call of [`'${LAUNCHER}'`, `mkdir '${gone}'; bash '${LAUNCHER}'`]) {
      const { status, stdout } = shell(project, `cd '${gone}'; rmdir '${gone}'; ${call} run quick`);
      assert.equal(status, 1);
      assert.match(stdout, /^\{.*"E_USAGE".*the working directory does not exist any more/, call);
      mkdirSync(gone, { recursive: true });
    }
    rmSync(gone, { recursive: true });
    assert.deepEqual(project.runIds(), before);
  });

  it('without HOME, without variables, with an empty PATH: ACOR runs what it can, and names what is missing', () => {
    const bare = shell(project, `'${LAUNCHER}' run quick`, { HOME: undefined, LANG: undefined });
    assert.equal(parseLines(bare.stdout).at(-1)!.state, 'completed');
    const unset = shell(project, `env -i '${LAUNCHER}' version`);
    assert.equal(JSON.parse(unset.stdout).ok, true);
    const empty = shell(project, `PATH= '${LAUNCHER}' run quick`);
    const { error } = JSON.parse(empty.stdout);
    assert.deepEqual([empty.status, error.code], [2, 'E_RUNTIME_MISSING']);
    assert.match(error.hint, /bash/);
  });

  it('with a project configuration that is a folder is an error', async () => {
    const odd = new TestProject({ tools: ['quick'] });
    rmSync(odd.path('.acor/config.yaml'));
    mkdirSync(odd.path('.acor/config.yaml'));
    await assertRefused(odd, ['run', 'quick'], { code: 'E_CONFIG_INVALID', exit: 2 });
    odd[Symbol.dispose]();
  });

  it('with a closed stdin, stdout or stderr neither hangs a run nor changes its log', () => {
    for (const closed of ['<&-', '>&-', '2>&-', '>&- 2>&-', '<&- >&- 2>&-']) {
      const before = project.runIds().length;
      assert.notEqual(shell(project, `'${ACOR}' run quick ${closed}`).status, null, closed);
      const ids = project.runIds();
      assert.equal(ids.length, before + 1, closed);
      const events = project.events(ids.at(-1)!);
      assert.deepEqual(
        events.map(({ type }) => type),
        ['runner_start', 'runner_state', 'result', 'runner_state', 'runner_end'],
        closed,
      );
    }
  });

  it('with a full disk behind stdout ends with an exit code that shows it, and the run completes', () => {
    const { status, stderr } = shell(project, `'${ACOR}' run quick >/dev/full`);
    assert.equal(status, 1);
    assert.match(stderr, /could not be written: ENOSPC/);
    assert.equal(project.record(project.runIds().at(-1)!)!.state, 'completed');
    for (const args of [
      'runs',
      'runs --format text',
      'version --format text',
      'exec --format text -- echo hi',
    ]) {
      const full = shell(project, `'${ACOR}' ${args} >/dev/full`);
      assert.deepEqual([full.status, /could not be written: ENOSPC/.test(full.stderr)], [1, true], args);
    }
  });

  it('with standard input that has no end, is huge or is a folder says so, and reads no more than it takes', () => {
    shell(project, 'truncate -s 3G huge');
    const reads = ['exec --read - -- wc -c', 'run quick --input-json -', 'workflow run flow --input-json -'];
    for (const args of [...reads, 'secret set TOKEN'])
      for (const [input, said] of [
        ['</dev/zero', /standard input has more than 67108864 bytes/],
        ['<huge', /standard input has more than 67108864 bytes/],
        ['</', /standard input cannot be read: EISDIR/],
      ] as const) {
        const { status, stdout } = shell(project, `'${ACOR}' ${args} ${input}`);
        const { error } = JSON.parse(stdout);
        assert.deepEqual([status, error.code], [1, 'E_USAGE'], `${args} ${input}: ${stdout}`);
        assert.match(error.message, said, args);
      }
  });

  it('with a terminal on stdin and stdout gets a rendering without a prompt', () => {
    const { status, stdout } = shell(project, `script -qec "'${ACOR}' run quick" /dev/null </dev/null`, {
      TERM: 'dumb',
    });
    assert.equal(status, 0);
    assert.match(stdout, /completed in/);
    assert.doesNotMatch(stdout, /"type"/);
  });
});

describe('a malicious tool without a sandbox', () => {
  let project: TestProject;
  before(() => {
    const config = "version: 1\nsecurity: { isolation: 'off' }\nenvironment: { cancel_grace_s: 0.3 }\n";
    project = new TestProject({ tools: ['does', 'quick'], config });
  });
  after(() => project[Symbol.dispose]());

  /** Runs a script as a tool; asserts that none of its processes is alive when the command returns. */
  async function runScript(script: string, line = '') {
    const finished = await project.acor(['run', '--timeout', '100', 'does', script, line]);
    const runId = project.runIds().at(-1)!;
    assert.deepEqual(processesOf(runId), []);
    return { ...finished, runId, lines: parseLines(finished.stdout) };
  }

  for (const [what, script, state, code] of [
    ['deletes its workspace', 'rm -rf "$WORKSPACE"', 'completed', null],
    ['makes its workspace unreadable', 'chmod 0 "$WORKSPACE"', 'completed', null],
    ['cancels itself', 'echo "had enough" > ../control/CANCEL; sleep 90', 'cancelled', null],
    ['adds to its own log', `echo '{"type":"log","seq":99}' >> ../events.jsonl`, 'failed', 'E_STORAGE'],
    [
      'writes an ending into its own log',
      `echo '{"v":1,"type":"runner_end","state":"completed","seq":4}' >> ../events.jsonl`,
      'failed',
      'E_STORAGE',
    ],
    ['empties its own log', ': > ../events.jsonl', 'failed', 'E_STORAGE'],
    ['removes its own log', 'rm ../events.jsonl', 'failed', 'E_STORAGE'],
    ['removes the control folder', 'rm -rf ../control', 'completed', null],
    ['removes the record', 'rm ../metadata.json', 'completed', null],
    ['ruins the record', 'echo x > ../metadata.json', 'completed', null],
    ['stops its supervisor for a while', 'kill -STOP $PPID; sleep 0.2; kill -CONT $PPID', 'completed', null],
    ['asks its supervisor to end', 'kill -TERM $PPID; sleep 90', 'cancelled', null],
    ['kills itself', 'kill -9 $$', 'failed', 'E_TOOL_FAILED'],
  ] as const) {
    it(`and ${what} ends with a correct state: ${code ?? state}`, async () => {
      const { lines, runId, code: exit } = await runScript(script);
      const end = lines.at(-1)!;
      assert.deepEqual([end.type, end.state, end.code, end.survivors], ['runner_end', state, code, []]);
      assert.equal(exit === 0, state === 'completed');
      const listed = await project.envelope(['runs', '--limit', '1']);
      const [{ run_id, state: listedState, code: listedCode }] = listed.data.runs;
      assert.deepEqual([run_id, listedState, listedCode], [runId, state, code]);
    });
  }

  it('that changes its own log is detected by verify, in every way', async () => {
    for (const script of [
      `echo '{"type":"runner_end","seq":4}' >> ../events.jsonl`,
      `echo '{"type":"runner_end","seq":4,"seal":{"bytes":1,"sha256":"","marks":[7]},"artifacts":7}' >> ../events.jsonl`,
      ': > ../events.jsonl',
      'rm ../events.jsonl',
    ]) {
      const { runId } = await runScript(script);
      const { code, error } = await project.envelope(['verify', runId]);
      assert.deepEqual([code, error.code], [1, 'E_INTEGRITY'], script);
      assert.equal(error.details.runs[0].problems[0].run_id, runId);
      const whole = await project.envelope(['verify']);
      assert.equal(whole.error.code, 'E_INTEGRITY');
    }
  });

  for (const [what, script] of [
    ['work', 'cd ..; rm -rf work; ln -s /etc work'],
    ['artifacts', 'cd ..; rm -rf artifacts; ln -s /etc/default artifacts'],
  ] as const) {
    it(`that replaces '${what}' by a link gets nothing behind the link listed as its artifact`, async () => {
      const line = '{"type":"result","status":"ok","artifacts":[{"path":"passwd"}]}';
      const { lines } = await runScript(script, what === 'work' ? line : '');
      const end = lines.at(-1)!;
      assert.deepEqual([end.state, end.code, end.artifacts], ['failed', 'E_PERMISSION', []]);
      assert.doesNotMatch(JSON.stringify(lines), /"sha256":"[0-9a-f]{64}","media_type"/);
    });
  }

  it('that claims the run for itself makes its supervisor stop writing and kill it', async () => {
    const { lines, code, runId } = await runScript('rm ../../leases/*; sleep 0.2; echo x; sleep 90');
    assert.equal(code, 2);
    assert.match(JSON.stringify(lines.at(-1)), /E_STORAGE.*another supervisor/);
    const { data } = await project.envelope(['show', runId]);
    assert.deepEqual([data.state, data.code], ['failed', 'E_RUNNER_LOST']);
  });

  it('that deletes the whole folder of its run makes the command report it', async () => {
    const before = project.runIds();
    // A supervisor that notices the missing log kills the tool, and part of the folder stays.
    const script = 'cd /; kill -STOP $PPID; rm -rf "$(dirname "$WORKSPACE")"; kill -CONT $PPID';
    const { stdout, code } = await project.acor(['run', 'does', script]);
    assert.equal(code, 2);
    assert.equal(parseLines(stdout).at(-1)!.ok, false);
    assert.deepEqual(project.runIds(), before);
    const { code: afterwards, error } = await project.envelope(['verify']);
    assert.ok(afterwards === 0 || error.code === 'E_INTEGRITY');
  });

  it('that kills its supervisor dies with it, and the run is E_RUNNER_LOST', async () => {
    const finished = await project.acor(['run', 'does', 'kill -9 $PPID; sleep 30']);
    assert.ok(finished.signal === 'SIGKILL' || finished.code === 137);
    const { data } = await project.envelope(['runs', '--limit', '1']);
    const [{ run_id, state, code }] = data.runs;
    assert.deepEqual([state, code], ['failed', 'E_RUNNER_LOST']);
    await until(() => processesOf(run_id).length === 0);
  });

  describe('with its output', () => {
    it('with a field called __proto__ in its output keeps the field and does no harm', async () => {
      const line =
        '{"type":"log","level":"info","msg":"x","__proto__":{"seq":7,"run_id":"r-x"},"constructor":1}';
      const { runId, lines } = await runScript('true', line);
      assert.equal(lines.at(-1)!.state, 'completed');
      const text = readFileSync(join(project.runsDir, runId, 'events.jsonl'), 'utf8');
      const stored = text.split('\n').find((each) => each.includes('"type":"log"'))!;
      assert.match(stored, /"__proto__":\{"seq":7,"run_id":"r-x"\},"constructor":1,"seq":\d+\}$/);
      assert.doesNotMatch(text, /claimed/);
    });

    it('with JSON of a hundred thousand levels keeps the line unchanged and continues', async () => {
      for (const wrap of [
        '{"type":"log","level":"info","msg":"x","data":D}',
        '{"type":"result","data":D}',
        'D',
      ]) {
        const deep = `printf '%s' '${wrap.split('D')[0]}'; printf '[%.0s' {1..100000}; printf ']%.0s' {1..100000}; printf '%s\\n' '${wrap.split('D')[1]}'`;
        project.write(
          'tools/deep/cli.sh',
          `#!/bin/bash\n${deep}\necho '{"type":"result","status":"ok"}'\n`,
          0o755,
        );
        const { of, end, events } = await project.run(['deep']);
        assert.deepEqual([end.state, of('result').length], ['completed', 1]);
        assert.match(String(of('runner_log')[0]!.msg), /nested deeper than/);
        assert.equal(events.length, 6);
      }
    });

    it('with binary garbage in its output keeps what is text, and gets its result read', async () => {
      project.write(
        'tools/garbage/cli.sh',
        `#!/bin/bash\nhead -c 300000 /dev/urandom\nhead -c 70000 /dev/zero\nprintf '\\n'\n${SCRIPT.split('\n')[1]}\n`,
        0o755,
      );
      const { end, of, events } = await project.run(['garbage']);
      assert.deepEqual([end.state, of('result').length], ['completed', 1]);
      assert.deepEqual(
        events.map(({ seq }) => seq),
        events.map((_, index) => index + 1),
      );
      assert.equal((await project.envelope(['verify', String(end.run_id)])).ok, true);
    });

    it('with 1 MB and 100,000 lines on stderr keeps all of it, in order', async () => {
      const large = await runScript("head -c 1000000 /dev/zero | tr '\\0' x");
      const texts = large.lines.filter(({ type }) => type === 'diagnostic').map(({ line }) => String(line));
      assert.equal(texts.join('').length, 1_000_000);
      const many = await runScript('seq 1 100000');
      assert.deepEqual(
        many.lines
          .filter(({ type }) => type === 'diagnostic')
          .flatMap(({ line }) => String(line).split('\n')),
        Array.from({ length: 100_000 }, (_, index) => String(index + 1)),
      );
      assert.equal(many.lines.at(-1)!.state, 'completed');
    });
  });
});

describe('a configuration that cannot be read', () => {
  it('is not treated as missing when its file is a dangling link', async () => {
    const looped = new ProjectInProcess({ tools: ['quick'] });
    rmSync(looped.path('.acor', 'config.yaml'));
    symlinkSync('config.yaml', looped.path('.acor', 'config.yaml'));
    const { code, error } = await looped.envelope(['run', 'quick']);
    assert.deepEqual([code, error.code], [2, 'E_CONFIG_INVALID']);
    looped[Symbol.dispose]();
  });

  it('does not prevent looking up an error code', async () => {
    const broken = new ProjectInProcess({ config: 'version: [' });
    const { ok, data } = await broken.envelope(['errors', 'E_CONFIG_INVALID']);
    assert.deepEqual([ok, data.codes.length], [true, 1]);
    broken[Symbol.dispose]();
  });

  it('with an unknown setting is an error', async () => {
    const plain = new ProjectInProcess();
    const { code, error } = await plain.envelope(['config', 'show', 'environment.timeout']);
    assert.deepEqual([code, error.code], [1, 'E_USAGE']);
    assert.match(error.hint, /environment\.timeout_s/);
    plain[Symbol.dispose]();
  });
});
