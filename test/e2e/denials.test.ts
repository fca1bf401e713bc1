import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { splitCommand } from '../../src/util/shell-words.ts';
import { ACOR, TestProject } from '../support/project.ts';
import { atTerminal } from '../support/terminal.ts';

const OTHER_UID = 65_534;
const HAS_BWRAP = existsSync('/usr/bin/bwrap');

describe('a tool that fails because of its sandbox', () => {
  let project: TestProject;
  let outside: string;
  before(() => {
    project = new TestProject();
    outside = mkdtempSync(join(tmpdir(), 'acor-outside-'));
    writeFileSync(join(outside, 'in.csv'), 'a,b\n', { mode: 0o644 });
  });
  after(() => {
    project[Symbol.dispose]();
    rmSync(outside, { recursive: true, force: true });
  });

  function tool(name: string, script: string, permissions = '', language = 'sh'): void {
    project.write(`tools/${name}/tool.yaml`, `adapter: plain\n${permissions}`);
    const first = language === 'py' ? '' : '#!/bin/bash\n';
    project.write(`tools/${name}/cli.${language}`, `${first}${script}\n`, 0o755);
  }

  async function denied(name: string, args: string[] = [], env: Record<string, string> = {}) {
    const { of, end } = await project.run([name, ...args], { env });
    const warnings = of('runner_warning').filter((event) => 'denied' in event);
    assert.ok(warnings.length <= 1, JSON.stringify(warnings));
    const [warning] = warnings as unknown as {
      msg: string;
      hint: string;
      denied: { what: string; allow?: { path: string; line: string } }[];
    }[];
    return { end, warning, lines: warning?.denied.map(({ allow }) => allow && [allow.path, allow.line]) };
  }

  /** Adds the reported lines to the manifest, as a person would. */
  function grant(name: string, lines: [string, string][]): void {
    const yaml = lines.map(([path, line]) => {
      const keys = path.split('.');
      return `${keys.map((key, depth) => `${'  '.repeat(depth)}${key}:\n`).join('')}${'  '.repeat(keys.length)}${line}\n`;
    });
    project.write(`tools/${name}/tool.yaml`, `adapter: plain\n${yaml.join('')}`);
  }

  it('starts a program outside of the base system by the line that is reported for it', async () => {
    const program = join(outside, 'own-id');
    copyFileSync('/usr/bin/id', program);
    chmodSync(outside, 0o755);
    tool('starts_own', 'own-id -u && echo started');
    const env = { PATH: `${outside}:${process.env['PATH']}` };
    const { end, lines } = await denied('starts_own', [], env);
    assert.equal(end.state, 'failed');
    const named = lines?.filter((line) => line?.[1] === '- own-id');
    assert.deepEqual(named, [['permissions.commands', '- own-id']]);
    grant('starts_own', named as [string, string][]);
    const { ok, data } = await project.envelope(['run', 'starts_own', '--no-stream'], { env });
    assert.ok(ok && /started/.test(JSON.stringify(data)), JSON.stringify(data));
  });

  it('is refused with a command for a folder and one for a file, when what it may write does not exist', async () => {
    tool(
      'keeps_state',
      `echo '{}' > '${project.path('state/db.json')}'`,
      'permissions: { filesystem: { write: ["${PROJECT}/state/db.json"] } }\n',
    );
    const { code, error } = await project.envelope(['run', 'keeps_state', '--no-stream']);
    assert.equal(code, 1);
    const [, folder, file] = /folder: (mkdir -p '[^']+')\. If it is a file: (.+)$/.exec(error.hint)!;
    assert.equal(folder, `mkdir -p '${project.path('state/db.json')}'`);
    assert.equal(spawnSync('sh', ['-c', file!]).status, 0);
    assert.equal((await project.envelope(['run', 'keeps_state', '--no-stream'])).data.state, 'completed');
  });

  it('is not led to a grant of credentials without the word that a person must decide', async () => {
    const key = join(outside, 'server.key');
    writeFileSync(key, 'secret', { mode: 0o644 });
    tool('reads_key', `cat ${key}`);
    const { end, warning } = await denied('reads_key');
    const caution = `${key} may hold credentials: ask a person before a tool may read that. To allow it: `;
    assert.ok(warning!.hint.startsWith(caution), warning!.hint);
    assert.ok(String(end.hint).includes(caution), String(end.hint));
    tool('reads_other', `cat ${join(outside, 'in.csv')}`);
    assert.doesNotMatch((await denied('reads_other')).warning!.hint, /credentials/);
  });

  it('gets the manifest line for a file that it could not read, and can read it with that line', async () => {
    const file = join(outside, 'in.csv');
    tool('reads', `print(open("${file}").read())`, '', 'py');
    const { end, warning, lines } = await denied('reads');
    assert.equal(end.state, 'failed');
    assert.deepEqual(lines, [['permissions.filesystem.read', `- ${file}`]]);
    assert.match(
      warning!.msg,
      /may have denied reading .*This is a guess from the tool's message 'FileNotFoundError/,
    );
    const { error } = await project.envelope(['run', 'reads', '--no-stream']);
    assert.ok(error.hint.includes(`In tool.yaml, under permissions.filesystem.read, write: - ${file}`));
    grant('reads', lines as [string, string][]);
    assert.equal((await denied('reads')).end.state, 'completed');
  });

  it('gets no manifest line for a name that would be a pattern there', async () => {
    const file = join(outside, '*.csv');
    writeFileSync(file, 'a,b\n');
    tool('pattern', `print(open("${file}").read())`, '', 'py');
    const { warning, lines } = await denied('pattern');
    assert.deepEqual(lines, [undefined]);
    assert.match(warning!.hint, /rename it, or name it as an argument/);
    assert.doesNotMatch(warning!.hint, /write: -/);
  });

  it('gets it also when it reports an error itself, and so does every later reader of the run', async () => {
    const file = join(outside, 'in.csv');
    tool('says', `cat ${file} || echo '{"type":"error","code":"E_TOOL_FAILED","msg":"no input"}'; exit 30`);
    project.write('tools/says/tool.yaml', 'name: says\n');
    const here = await project.envelope(['run', 'says', '--no-stream']);
    assert.ok(here.error.hint.includes(`write: - ${file}`), here.error.hint);
    // A tool that may ask has a supervisor process, and the warning is read from the log.
    project.write('tools/says/tool.yaml', 'name: says\nactions: [ask]\n');
    const apart = await project.envelope(['run', 'says', '--no-stream']);
    assert.equal(apart.error.hint, here.error.hint);
  });

  it('gets what allows a write outside of the project, or that nothing does', {
    skip: HAS_BWRAP ? false : 'needs bubblewrap',
  }, async () => {
    for (const [path, expected] of [
      ['/etc/acor-denied', /^Nothing allows writing \/etc\/acor-denied\./],
      ['/var/log/acor-denied', /under permissions\.filesystem\.write, write: - "?\/var\/log\/\*\*/],
      [`${homedir()}/acor-denied`, /To allow it: .*write/],
      [
        '/usr/acor-denied',
        /^Nothing allows writing \/usr\/acor-denied\. Let the tool write into its workspace/,
      ],
      ['/acor-denied', /^Nothing allows writing \/acor-denied\./],
      ['/var/acor-denied', /Nothing allows writing \/var\/acor-denied\./],
      ['/opt/acor-denied', /Nothing allows writing \/opt\/acor-denied\./],
    ] as const) {
      for (const [language, script] of [
        ['py', `open("${path}", "w")`],
        ['sh', `set -e; echo x > ${path}`],
      ]) {
        tool('writes_out', script!, '', language);
        const { error } = await project.envelope(['run', 'writes_out', '--no-stream']);
        assert.match(error.hint, expected, `${language} ${path}: ${error.message}`);
        assert.doesNotMatch(error.hint, /To allow it: .*Nothing|cli\./);
        rmSync(project.path('tools/writes_out'), { recursive: true });
      }
    }
    tool('probes', 'ls /var/log/acor-denied; echo "it is broken" >&2; exit 1');
    assert.equal((await denied('probes')).warning, undefined, 'the control: what it only looked for');
  });

  it('of acor exec that writes outside is given the place to write, and no right to start its own shell', {
    skip: !HAS_BWRAP,
  }, async () => {
    const { error } = await project.envelope([
      ...['exec', '--no-stream', '--', 'sh', '-c'],
      'echo x > /etc/acor-denied',
    ]);
    assert.equal(
      error.hint,
      'Nothing allows writing /etc/acor-denied. Let the program write into its workspace, or to a file or folder of yours that the flag --write names',
    );
  });

  it('of acor exec gets a hint that works as it is printed', { skip: !HAS_BWRAP }, async () => {
    using own = new TestProject();
    const userConfig = own.path('xdg/acor/config.yaml');
    // A home below the temporary folder of the machine, which is a grant root, would be granted with it.
    const env = { XDG_CONFIG_HOME: own.path('xdg'), TMPDIR: own.path('tmp') };
    mkdirSync(env.TMPDIR);
    const secret = mkdtempSync(join(homedir(), 'acor denied '));
    own.write('in.txt', 'a\n');
    own.write('sub/in.txt', 'a\n');
    writeFileSync(join(secret, 'in.csv'), 'a,b\n', { mode: 0o644 });
    chmodSync(secret, 0o755);
    const exec = (flags: string[], words: string[]) =>
      own.envelope(['exec', '--no-stream', ...flags, '--', ...words], { env });
    /** Runs it as it is refused, then with the flag of its hint. */
    const follow = async (words: string[], again = words) => {
      const { error } = await exec([], words);
      const [, flag, value] = splitCommand(/pass the (flag .+)$/.exec(error.hint)![1]!)!;
      const folder = /\((mkdir -p .+?)\), because/.exec(error.hint)?.[1];
      if (folder !== undefined) assert.equal(spawnSync('sh', ['-c', folder]).status, 0);
      const line = /In (\S+), under security\.grant_roots, write: (- .+); then/.exec(error.hint);
      if (line !== null) {
        assert.equal(line[1], userConfig);
        const refused = await exec([flag!, value!], again);
        assert.equal(refused.error.code, 'E_PERMISSION', 'the control');
        own.write('xdg/acor/config.yaml', `security:\n  grant_roots:\n    ${line[2]}\n`);
      }
      const { ok, error: left } = await exec([flag!, value!], again);
      assert.ok(ok, `${words.join(' ')}: ${error.hint}: ${JSON.stringify(left)}`);
      return error.hint as string;
    };
    try {
      const read = await follow(['/usr/bin/python3', '-c', `open("${secret}/in.csv")`]);
      assert.match(read, /copy it into .*grant_roots/);
      const compressed = own.path('in.txt.gz');
      const held = await follow(
        ['gzip', '-k', 'in.txt'],
        ['sh', '-c', `echo a > ${own.path('out/in.txt.gz')}`],
      );
      assert.match(held, /new folder .* because ACOR keeps its own files/);
      assert.equal(existsSync(compressed), false);
      assert.doesNotMatch(await follow(['gzip', '-k', 'sub/in.txt']), /new folder/);
      assert.ok(existsSync(own.path('sub/in.txt.gz')));
      const outside = ['/usr/bin/python3', '-c', 'open("/srv/acor-denied", "w")'];
      await follow(outside, ['sh', '-c', `echo a > ${own.path('out/made')}`]);
      for (const [url, host] of [
        ['http://example.com:81/x', 'example.com:81'],
        ['http://example.com', 'example.com:80'],
        ['https://example.com', 'example.com:443'],
      ]) {
        const { error } = await exec([], ['curl', '-sS', url!]);
        assert.equal(error.hint, `To allow it: pass the flag --net ${host}`);
      }
    } finally {
      rmSync(secret, { recursive: true });
    }
  });

  it('gets the line for a path with spaces, with or without quotes, in a message or an error of its own', async () => {
    const folder = join(outside, 'my data');
    mkdirSync(folder);
    writeFileSync(join(outside, 'my'), '', { mode: 0o644 });
    const [path, quoted] = [join(folder, 'in a.csv'), join(folder, "it's b.csv")];
    for (const each of [path, quoted]) writeFileSync(each, '', { mode: 0o644 });
    const said = `{"type":"error","code":"E_X","msg":"open ${path} failed: permission denied"}`;
    for (const [file, script, manifest] of [
      [path, `echo "cannot open ${path} for reading: Permission denied" >&2; exit 1`, 'adapter: plain\n'],
      [quoted, `cat "${quoted}"`, 'adapter: plain\n'],
      [path, `echo '${said}'; exit 30`, ''],
    ] as const) {
      tool('spaces', script);
      project.write('tools/spaces/tool.yaml', manifest);
      const { lines } = await denied('spaces');
      assert.deepEqual(lines, [['permissions.filesystem.read', `- "${file}"`]], script);
    }
  });

  it('gets the flag and the setting for an address that is not public, at once', {
    skip: !HAS_BWRAP,
  }, async () => {
    using own = new TestProject();
    const server = createServer((_, response) => response.end('here'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const at = `127.0.0.1:${(server.address() as AddressInfo).port}`;
      const env = own.environment({ XDG_CONFIG_HOME: own.path('xdg') });
      const call = (flags: string[]) =>
        own.envelope(['exec', '--no-stream', ...flags, '--', 'curl', '-sS', `http://${at}/`], { env });
      const { error } = await call([]);
      const [, file, line, value] =
        /In (\S+), under security\.allow_private_egress, write: (- "\S+"), because .* --net (\S+)$/.exec(
          error.hint,
        )!;
      assert.deepEqual([file, value], [own.path('xdg/acor/config.yaml'), at]);
      const refused = await call(['--net', value!]);
      assert.equal(refused.error.code, 'E_POLICY_DENIED', 'the control');
      own.write('xdg/acor/config.yaml', `security:\n  allow_private_egress:\n    ${line}\n`);
      const { ok, error: left } = await call(['--net', value!]);
      assert.ok(ok, JSON.stringify(left));
    } finally {
      server.close();
    }
  });

  it('gets the manifest line for a folder of the project that it could not write to', async () => {
    mkdirSync(project.path('out'));
    tool('writes', `echo x > ${project.path('out', 'made')}`);
    const { lines } = await denied('writes');
    assert.deepEqual(lines, [['permissions.filesystem.write', '- "${PROJECT}/out/**"']]);
    grant('writes', lines as [string, string][]);
    assert.equal((await denied('writes')).end.state, 'completed');
    tool(
      'only_reads',
      `echo x > ${project.path('out', 'made')}`,
      'permissions: { filesystem: { read: ["out/**"] } }\n',
    );
    assert.deepEqual((await denied('only_reads')).lines, [
      ['permissions.filesystem.write', '- "${PROJECT}/out/**"'],
    ]);
  });

  it('gets the manifest line for a program that it could not start', async () => {
    tool('starts', 'perl -e 1');
    const { lines } = await denied('starts');
    assert.deepEqual(lines, [['permissions.commands', '- perl']]);
    grant('starts', lines as [string, string][]);
    assert.equal((await denied('starts')).end.state, 'completed');
    tool(
      'starts_from_python',
      'import subprocess; subprocess.run(["perl", "-e", "1"], check=True)',
      '',
      'py',
    );
    assert.deepEqual((await denied('starts_from_python')).lines, [['permissions.commands', '- perl']]);
  });

  it('gets the manifest line for a host that its output names, else a description of the line', async () => {
    tool('dials', 'exec 3<>/dev/tcp/192.0.2.1/8080');
    assert.deepEqual((await denied('dials')).lines, [
      ['permissions.network.egress_allow', '- "192.0.2.1:8080"'],
    ]);
    tool('asks', 'import urllib.request; urllib.request.urlopen("https://api.example.com/x")', '', 'py');
    assert.deepEqual((await denied('asks')).lines, [
      ['permissions.network.egress_allow', '- api.example.com:443'],
    ]);
    tool(
      'connects',
      'import socket; host = "192.0.2" + ".1"; socket.create_connection((host, 80))',
      '',
      'py',
    );
    const { warning, lines } = await denied('connects');
    assert.deepEqual(lines, [undefined]);
    assert.match(warning!.hint, /egress_allow, list each host with its port/);
  });

  it('gets a warning about a system call that no manifest line allows', async () => {
    const call = 'libc.unshare(0x10000000); number = ctypes.get_errno()';
    tool(
      'unshares',
      `import ctypes, os\nlibc = ctypes.CDLL(None, use_errno=True)\n${call}\nraise OSError(number, os.strerror(number) + " in unshare")`,
      '',
      'py',
    );
    const { warning } = await denied('unshares');
    assert.match(warning!.msg, /the system call unshare/);
    assert.match(warning!.hint, /: set permissions\.level: privileged/);
    const { error } = await project.envelope(['exec', '--no-stream', '--', 'unshare', '-U', 'true']);
    assert.match(error?.hint ?? '', /: make it a tool of the project with permissions\.level: privileged/);
  });

  it('gets the advice to copy a file that it cannot link or rename across mounts', {
    skip: !HAS_BWRAP,
  }, async () => {
    const error = async (command: string) => {
      const words = ['--', 'sh', '-c', `: >f; mkdir d; ${command}`];
      return (await project.envelope(['exec', '--no-stream', ...words])).error;
    };
    assert.match(
      (await error('ln f "$ARTIFACTS_DIR/f"')).hint,
      /^No file can be renamed .* mv and shutil\.move/,
    );
    assert.equal(await error('mv f "$ARTIFACTS_DIR/f"'), undefined, 'the advice works');
    assert.equal(await error('ln f d/f'), undefined, 'within a folder nothing is in the way');
  });

  it('gets no warning when the sandbox did not cause the failure', async () => {
    const file = join(outside, 'in.csv');
    tool('is_missing', `cat ${outside}/none.csv; no-such-program-anywhere`);
    tool('has_it', `cat ${file}; cat ${file}/x`, `permissions: { filesystem: { read: ["${file}"] } }\n`);
    tool('goes_well', `cat ${file}; exit 0`);
    tool('fails', 'echo "the input is wrong" >&2; exit 1');
    tool(
      'wants_own',
      `cat ${project.path('.acor/config.yaml')} ${project.runsDir}/ledger.jsonl /proc/1/environ`,
    );
    for (const name of ['is_missing', 'has_it', 'goes_well', 'fails', 'wants_own']) {
      const { warning } = await denied(name);
      assert.equal(warning, undefined, `${name}: ${JSON.stringify(warning)}`);
    }
    tool('reads_free', `cat ${outside}/none.csv; cat ${file}; exit 1`);
    const off = await denied('reads_free', [], { ACOR_SECURITY_ISOLATION: 'off' });
    assert.equal(off.warning, undefined);
    assert.equal(
      (await denied('reads_free')).lines?.length,
      1,
      'the control: with a sandbox there is a warning',
    );
  });

  it('gets the name of a file that is missing on this machine, too, before a right to write it', async () => {
    const missing = project.path('missing.txt');
    tool('opens', `open("${missing}").read()`, '', 'py');
    const hidden = await denied('opens');
    assert.match(
      hidden.warning!.hint,
      /^There is no \S+missing\.txt on this machine: to read it, correct the path/,
    );
    const words = ['--read', '.', '--', 'cat', missing];
    const { error } = await project.envelope(['exec', '--no-stream', ...words]);
    assert.equal(error.hint, `there is no ${missing} on this machine: correct the path`);
  });

  it('gets no right for an output whose mode denies it', async () => {
    tool(
      'adds',
      'echo more >> "$1"',
      'inputs: [{ name: to, type: path, access: write, positional: true }]\n',
    );
    project.write('read-only.txt', 'x\n', 0o444);
    const { error } = await project.envelope(['run', 'adds', 'read-only.txt', '--no-stream']);
    const path = project.path('read-only.txt');
    assert.equal(error!.hint, `${path} has the mode 444: chmod u+w ${path}`);
  });

  it('gets no right for a file whose mode or owner denies it', {
    skip: process.getuid?.() !== 0,
  }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'acor-user-'));
    try {
      const inFolder = (name: string) => join(folder, name);
      for (const [name, mode] of [
        ['own.txt', 0],
        ['roots.txt', 0o600],
        ['free.txt', 0o644],
      ] as const) {
        writeFileSync(inFolder(name), 'x\n');
        chmodSync(inFolder(name), mode);
      }
      for (const path of [folder, inFolder('own.txt')]) chownSync(path, OTHER_UID, OTHER_UID);
      const exec = (...words: string[]) => {
        const command = [ACOR, 'exec', '--no-stream', ...words];
        const ids = ['--reuid', OTHER_UID, '--regid', OTHER_UID, '--clear-groups'].map(String);
        const env = { PATH: process.env['PATH'], HOME: folder };
        const { stdout } = spawnSync('setpriv', [...ids, ...command], { cwd: folder, env, encoding: 'utf8' });
        return JSON.parse(stdout.trim().split('\n').at(-1)!);
      };
      const own = exec('--', 'cat', 'own.txt').error;
      assert.equal(own.hint, `${inFolder('own.txt')} has the mode 000: chmod u+r ${inFolder('own.txt')}`);
      const roots = exec('--', 'cat', 'roots.txt').error;
      assert.match(
        roots.hint,
        /roots\.txt has the mode 600, and belongs to the user 0, not to 65534: let its owner/,
      );
      const written = exec('--write', 'own.txt', '--', 'cat', 'own.txt').error;
      assert.deepEqual(
        [written.code, /own\.txt cannot be read/.test(written.message)],
        ['E_PERMISSION', true],
      );
      assert.equal(exec('--', 'cat', 'free.txt').ok, true, 'the control: a file that everybody may read');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('gets no manifest line for a program when it may start all of them', async () => {
    const script = 'echo "bash: line 1: perl: command not found" >&2; exit 127';
    tool('says', script);
    assert.deepEqual((await denied('says')).lines, [['permissions.commands', '- perl']], 'the control');
    tool('says_privileged', script, 'permissions: { level: privileged }\n');
    const { code, text } = await atTerminal(['approve', 'says_privileged'], {
      cwd: project.root,
      env: project.environment(),
      when: /To approve it, type its name/,
      typed: 'says_privileged\n',
    });
    assert.equal(code, 0, text);
    assert.equal((await denied('says_privileged')).warning, undefined);
  });

  it('gets a few lines at most, without control characters for a terminal', async () => {
    for (let i = 0; i < 9; i++) writeFileSync(join(outside, `f${i}`), '');
    tool(
      'floods',
      `for i in $(seq 9999); do echo "cat: ${outside}/f$((i % 9)): No such file or directory" >&2; done
       printf 'cat: ${outside}/\\033[2J: No such file or directory\\n' >&2; exit 1`,
    );
    const { warning, lines } = await denied('floods');
    assert.equal(lines?.length, 5);
    assert.equal(JSON.stringify(warning).includes('u001b'), false);
  });
});
