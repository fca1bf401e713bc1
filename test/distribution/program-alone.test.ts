import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { followFirstPage } from '../support/first-page.ts';
import { parseLines, ROOT } from '../support/project.ts';

const isThere = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
const noPython = isThere('python3') ? false : 'python3 is not here';
const noBubblewrap = isThere('bwrap') ? false : 'bwrap is not here';
const OTHER_USER = { uid: 65534, gid: 65534 };

/** What the program itself needs of a machine, beside the shell in which its watchdog runs. */
const C_LIBRARY = ['/lib', '/lib64', '/usr/lib', '/usr/lib64'];

describe('the compiled program, copied elsewhere', () => {
  let folder: string;
  before(() => {
    folder = realpathSync(mkdtempSync(join(tmpdir(), 'acor-alone-')));
    chmodSync(folder, 0o755);
    mkdirSync(join(folder, 'bin'));
    copyFileSync(join(ROOT, 'dist', 'acor'), join(folder, 'bin', 'acor'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  function emptyHome(name: string, user?: typeof OTHER_USER) {
    const home = join(folder, name);
    mkdirSync(home);
    if (user !== undefined) chownSync(home, user.uid, user.gid);
    return { home, env: { PATH: `${join(folder, 'bin')}:/usr/bin:/bin`, HOME: home, LANG: 'C.UTF-8' } };
  }

  it('runs the first page of the guide', { skip: noPython }, () => {
    const { home, env } = emptyHome('first');
    followFirstPage({ folder: home, env });
  });

  it('does so for another user', {
    skip: process.getuid?.() === 0 ? noPython : 'only root can be another user',
  }, () => {
    const { home, env } = emptyHome('other', OTHER_USER);
    followFirstPage({ folder: home, env, user: OTHER_USER });
    assert.ok(existsSync(join(home, '.cache', 'acor-sdk')));
  });

  it('passes its own test', () => {
    const { home, env } = emptyHome('self-test');
    const { stdout } = spawnSync('acor', ['self-test'], { cwd: home, env, encoding: 'utf8' });
    const { data } = JSON.parse(stdout);
    assert.equal(data.status, 'ready', stdout);
    const names = data.checks.map(({ name }: { name: string }) => name);
    assert.deepEqual(names, [
      'project',
      ...['tool.bash', 'tool.python', 'tool.node', 'tool.typescript'],
      ...['supervisor', 'store'],
    ]);
  });

  it('prints its manual page', () => {
    const { home, env } = emptyHome('man');
    const { status, stdout } = spawnSync('acor', ['man', '--format', 'text'], {
      cwd: home,
      env,
      encoding: 'utf8',
    });
    assert.equal(status, 0);
    assert.match(stdout, /^\.\\".*\n\.TH ACOR 1 /);
  });

  it('does not use files of the folders around it', () => {
    const { home, env } = emptyHome('around');
    // The folder above the program looks like a package.
    mkdirSync(join(folder, 'sdk', 'python', 'acor'), { recursive: true });
    writeFileSync(join(folder, 'sdk', 'python', 'acor', '__init__.py'), '');
    const { stdout } = spawnSync('acor', ['template', 'bash', '--name', 'x'], {
      cwd: home,
      env,
      encoding: 'utf8',
    });
    assert.equal(JSON.parse(stdout).ok, true, stdout);
    rmSync(join(folder, 'sdk'), { recursive: true });
  });

  it('runs a TypeScript tool in a root with nothing but itself, the C library and a shell', {
    skip: noBubblewrap,
  }, () => {
    const { home } = emptyHome('empty-root');
    mkdirSync(join(home, '.config', 'acor'), { recursive: true });
    // There is no other program, so no sandbox either.
    writeFileSync(
      join(home, '.config', 'acor', 'config.yaml'),
      "version: 1\nsecurity: { isolation: 'off' }\n",
    );
    const inside = (...args: string[]) => {
      const system = C_LIBRARY.flatMap((path) => (existsSync(path) ? ['--ro-bind', path, path] : []));
      const own = [
        '--ro-bind',
        join(folder, 'bin', 'acor'),
        '/acor',
        '--ro-bind',
        realpathSync('/bin/sh'),
        '/bin/sh',
        '--bind',
        home,
        '/home/me',
      ];
      const root = [
        ...system,
        ...own,
        '--proc',
        '/proc',
        '--dev',
        '/dev',
        '--tmpfs',
        '/tmp',
        '--unshare-all',
      ];
      const options = [
        '--clearenv',
        '--setenv',
        'HOME',
        '/home/me',
        '--setenv',
        'PATH',
        '/none',
        '--chdir',
        '/home/me',
      ];
      return spawnSync('bwrap', [...root, ...options, '/acor', ...args], { encoding: 'utf8' });
    };
    assert.equal(JSON.parse(inside('template', 'typescript', '--name', 'greet').stdout).ok, true);
    const entry = join(home, 'tools', 'greet', 'cli.ts');
    const text = readFileSync(entry, 'utf8');
    writeFileSync(
      entry,
      `import { emitLog } from 'acor/tool';\nemitLog('info', String(process.env.BUN_BE_BUN ?? process.env.ACOR_AS_BN));\n${text}`,
    );
    const { stdout, stderr } = inside('run', 'greet', '--who', 'Ada');
    const events = parseLines(stdout);
    assert.deepEqual(
      events.find(({ type }) => type === 'result')?.data,
      { greetings: ['Hello, Ada!'] },
      stdout + stderr,
    );
    // A program `acor` that the tool starts is ACOR, not Bun.
    assert.equal(events.find(({ type }) => type === 'log')?.msg, 'undefined');
    for (const command of [['list'], ['describe', 'greet'], ['explain'], ['version', '--detailed'], ['runs']])
      assert.equal(JSON.parse(inside(...command).stdout).ok, true, command.join(' '));
  });
});
