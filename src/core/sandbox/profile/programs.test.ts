import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { type ProjectFolder, projectFolder } from '../../../../test/support/project-folder.ts';
import type { SandboxRequest } from '../sandbox.ts';
import { BASE_UTILITIES, SDK_UTILITIES } from './base-utilities.ts';
import { realPaths } from './mounts.ts';
import { commandPaths, executablePaths, runtimePaths, utilitiesOf } from './programs.ts';

describe('the programs that a tool may execute', () => {
  let folder: ProjectFolder;
  beforeEach(() => {
    folder = projectFolder();
  });
  afterEach(() => folder.remove());

  /** The runtime is on the PATH, unless `more` has another one. */
  const request = (runtime: string, more: Partial<SandboxRequest> = {}) =>
    ({
      runtime,
      toolDir: '/tools/t',
      path: `/usr/bin:relative:/bin:${dirname(runtime)}`,
      ...more,
    }) as SandboxRequest;
  const binary = (path: string) => folder.program(path, '\u007fELF');

  it('are its folder, its runtime with the packages of it, the loaders, and its commands on every folder of the PATH', () => {
    const runtime = binary('python/bin/python3');
    const paths = executablePaths(request(runtime, { commands: ['git', '/opt/x/y', 'a/b'] }));
    for (const path of [
      '/tools/t',
      runtime,
      folder.at('python'),
      '/lib64/ld-linux-x86-64.so.2',
      '/usr/bin/git',
      '/bin/git',
      '/opt/x/y',
    ])
      assert.ok(paths.includes(path), path);
    assert.equal(
      paths.some((path) => path.endsWith('a/b') || path.includes('relative')),
      false,
    );
    assert.equal(new Set(paths).size, paths.length);
    assert.ok(!paths.includes('/usr/bin/ls'));
    // The whole of /usr is never a runtime's own.
    assert.ok(!executablePaths(request('/usr/bin/env')).includes('/usr'));
  });

  it('include the base utilities for a shell without commands, and what the SDK starts for one with them', () => {
    for (const name of ['bash', 'dash', 'sh', 'zsh', 'ksh', 'busybox'])
      assert.deepEqual(utilitiesOf(request(`/nowhere/${name}`)), BASE_UTILITIES, name);
    assert.deepEqual(utilitiesOf(request('/nowhere/python3')), []);
    assert.deepEqual(utilitiesOf(request('/nowhere/strange', { language: 'bash' })), BASE_UTILITIES);
    assert.deepEqual(utilitiesOf(request('/nowhere/bash', { commands: ['git'] })), SDK_UTILITIES);
    assert.deepEqual(utilitiesOf(request('/nowhere/bash', { commands: [] })), BASE_UTILITIES);
    assert.ok(executablePaths(request('/nowhere/bash')).includes('/usr/bin/ls'));
  });

  it('include the interpreters of a runtime that is itself a script, four at most', () => {
    const inner = binary('inner/bin/run');
    const outer = folder.program('shims/python', `#!${inner} -x\n`);
    assert.deepEqual(runtimePaths(request(outer)), [outer, folder.root, inner, folder.at('inner')]);
    assert.deepEqual(utilitiesOf(request(outer, { commands: ['git'] })), BASE_UTILITIES);
    let last = inner;
    for (const name of ['c', 'b', 'a', 'z']) last = folder.program(`chain/${name}`, `#!${last}\n`);
    assert.deepEqual(
      runtimePaths(request(last)).map((path) => path.slice(folder.root.length + 1)),
      ['chain/z', 'chain/a', 'chain/b', 'chain/c'],
    );
  });

  it('include what env finds on the PATH, also behind its options and variables', () => {
    const found = binary('bin/node');
    const path = `/nowhere:${folder.at('bin')}`;
    for (const line of ['node', '-S node', '-i A=b node --flag']) {
      const script = folder.program('x', `#!/usr/bin/env ${line}\n`);
      assert.ok(runtimePaths(request(script, { path })).includes(found), line);
    }
    const none = folder.program('y', '#!/usr/bin/env none\n');
    assert.deepEqual(runtimePaths(request(none, { path })).slice(0, 2), [none, '/usr/bin/env']);
  });

  it('have the installation around them, but no folder that holds more than one', () => {
    for (const [program, installation] of [
      ['py/bin/python3', 'py'],
      ['py/sbin/x', 'py'],
      ['py/libexec/x', 'py'],
      ['py/shims/x', 'py'],
      ['py/Scripts/x', 'py'],
      ['py/other/x', undefined],
    ] as const) {
      const path = binary(program);
      assert.deepEqual(
        runtimePaths(request(path)),
        installation === undefined ? [path] : [path, folder.at(installation)],
      );
    }
    for (const broad of [
      '/home/me/bin/x',
      '/root/bin/x',
      '/opt/bin/x',
      '/tmp/bin/x',
      '/Users/me/bin/x',
      '/srv/bin/x',
      '/bin/x',
    ])
      assert.deepEqual(runtimePaths(request(broad)), [broad]);
    assert.deepEqual(runtimePaths(request('/home/me/py/bin/x')), ['/home/me/py/bin/x', '/home/me/py']);
    // A link in the folder of a tool, which a cloned project can contain.
    folder.link('home', '/root');
    folder.link('tmp', '/tmp');
    for (const program of [folder.at('home/bin/x'), folder.at('tmp/bin/x')])
      assert.deepEqual(runtimePaths(request(program)), [program]);
    // Beside the programs of a user are keyrings and the data of others.
    assert.ok(!runtimePaths(request('/home/me/.local/bin/x')).includes('/home/me/.local'));
  });

  it('have the virtual environment by which a Python was started, and the installation that it links to', () => {
    const real = binary('real/bin/python3');
    folder.write('venv/pyvenv.cfg', '');
    folder.link('venv/bin/python', real);
    assert.deepEqual(runtimePaths(request(folder.at('venv/bin/python'))), [
      folder.at('venv/bin/python'),
      folder.at('venv'),
      folder.at('real'),
    ]);
    folder.link('bare/bin/python', real);
    assert.deepEqual(runtimePaths(request(folder.at('bare/bin/python'))), [
      folder.at('bare/bin/python'),
      folder.at('real'),
    ]);
  });

  it('have no folder around them when a manifest names them, and no link of the project leads to one', () => {
    const app = binary('srv/app/bin/x');
    folder.write('srv/app/.env', 'KEY=1');
    const elsewhere = { path: '/usr/bin', project: folder.at('project') };
    assert.deepEqual(runtimePaths(request(app, elsewhere)), [app]);
    assert.ok(!executablePaths(request(app, elsewhere)).includes(folder.at('srv/app')));
    // By the first line of a tool, by a link, and by a link in a folder of the project that is on the PATH.
    const script = folder.program('project/tools/t/cli', `#!${app}\n`);
    folder.link('project/tools/t/x', app);
    folder.link('project/node_modules/.bin/x', app);
    for (const program of [
      script,
      folder.at('project/tools/t/x'),
      folder.at('project/node_modules/.bin/x'),
    ]) {
      const path = `/usr/bin:${dirname(program)}`;
      assert.deepEqual(
        runtimePaths(request(program, { ...elsewhere, path })).filter((each) => each !== app),
        [program],
      );
    }
    // As a virtual environment, itself and by a link in place of the tool's own.
    folder.write('srv/app/pyvenv.cfg', '');
    folder.link('project/tools/t/venv', folder.at('srv/app'));
    for (const program of [app, folder.at('project/tools/t/venv/bin/x')])
      assert.deepEqual(
        runtimePaths(request(program, elsewhere)).filter((each) => each !== app),
        program === app ? [] : [program],
      );
    // The control: what the user has on the PATH.
    assert.ok(runtimePaths(request(app, { project: folder.at('project') })).includes(folder.at('srv/app')));
  });

  it('are a Python outside of the PATH with its modules, and nothing else of its installation', () => {
    const real = binary('py/bin/python3.11');
    folder.write('py/lib/python3.11/os.py', '');
    folder.write('py/lib/libpython3.11.so.1.0', '');
    folder.write('py/lib/other/data', '');
    // As `python3 -m venv` makes it, for a Python by whose link it was started.
    folder.link('py/bin/python3', 'python3.11');
    folder.write('project/venv/pyvenv.cfg', '');
    folder.link('project/venv/bin/python3', folder.at('py/bin/python3'));
    folder.link('project/venv/bin/python', 'python3');
    assert.deepEqual(
      runtimePaths(
        request(folder.at('project/venv/bin/python'), { path: '/usr/bin', project: folder.at('project') }),
      ).sort(),
      [
        folder.at('project/venv'),
        folder.at('project/venv/bin/python'),
        folder.at('project/venv/bin/python3'),
        folder.at('py/bin/python3'),
        real,
        folder.at('py/lib/libpython3.11.so.1.0'),
        folder.at('py/lib/python3.11'),
      ].sort(),
    );
  });

  it('are readable as commands on the PATH of the user, without what is around them, but not in the project', () => {
    const real = binary('opt/lib/app/x');
    folder.link('opt/bin/x', 'x-2');
    folder.link('opt/bin/x-2', real);
    folder.link('project/bin/x', folder.at('home/key'));
    // The base system has another one.
    folder.program('opt/bin/ls', '#!/usr/bin/env bash\n');
    folder.write('home/key', 'secret');
    const wish = request('/usr/bin/bash', {
      commands: ['x', 'ls', real],
      project: folder.at('project'),
      path: ['/usr/bin', '/bin', folder.at('opt/bin'), folder.at('project/bin')].join(':'),
    });
    assert.deepEqual(
      [...new Set(commandPaths(wish, realPaths()))],
      [folder.at('opt/bin/x'), folder.at('opt/bin/x-2'), real],
    );
    assert.ok(executablePaths(wish).includes(folder.at('opt/bin/x')));
  });

  it('are, of the base system, those of this list', () => {
    assert.equal(
      BASE_UTILITIES.join(' '),
      '[ arch awk b2sum base32 base64 basename bash bc busybox cat chmod cksum cmp comm cp csplit cut dash date dd df diff dirname du echo egrep env expand expr factor false fgrep file find flock fmt fold gawk getopt grep gunzip gzip head hostname iconv id install join kill ln locale ls mawk md5sum mkdir mkfifo mktemp mv nice nl nohup nproc numfmt od paste pathchk pr printenv printf pwd readlink realpath rev rm rmdir sed seq setsid sh sha1sum sha224sum sha256sum sha384sum sha512sum shasum shred shuf sleep sort split stat stdbuf stty sum sync tac tail tar tee test timeout touch tr true truncate tsort tty uname unexpand uniq unlink wc whoami xargs yes zcat',
    );
    assert.equal(
      SDK_UTILITIES.join(' '),
      'awk gawk mawk busybox cat date mkdir mv rm sha256sum shasum sleep stat sync wc mkfifo mktemp dirname env head ln',
    );
  });
});
