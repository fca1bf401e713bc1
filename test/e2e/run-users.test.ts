import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { landlock } from '../../src/core/sandbox/backends/landlock.ts';
import { canGiveUsers } from '../../src/core/sandbox/identity/run-users.ts';
import { ACOR, parseLines, processesOf, TestProject, until } from '../support/project.ts';

const BWRAP = '/usr/bin/bwrap';
/** Uids that no account has, as owners of files. */
const OTHER_USER = 4321;
const ANYBODY = 4322;

describe('a tool that root runs', { skip: !canGiveUsers() }, () => {
  let project: TestProject;
  let target: string;
  before(() => {
    project = new TestProject();
    project.write(
      'tools/writes_in/tool.yaml',
      'name: writes_in\nversion: 1.0.0\nadapter: plain\ninputs:\n  - { name: folder, type: path, access: write, required: true, positional: true }\n  - { name: script, type: string, required: true, positional: true }\n',
    );
    project.write('tools/writes_in/cli.sh', '#!/bin/bash\n[ "$1" != -- ] || shift\ncd "$1" && eval "$2"\n');
    project.write(
      'tools/reads/tool.yaml',
      'name: reads\nversion: 1.0.0\nadapter: plain\ninputs:\n  - { name: file, type: path, access: read, required: true, positional: true }\n',
    );
    project.write('tools/reads/cli.sh', '#!/bin/bash\ncat "$1"\n');
    target = project.path('target');
  });
  after(() => project[Symbol.dispose]());

  const ownerOf = (path: string) => statSync(project.path('target', path)).uid;
  const lines = (run: Awaited<ReturnType<TestProject['run']>>) => run.of('log').map(({ msg }) => msg);

  function makeTarget(): void {
    spawnSync('rm', ['-rf', target]);
    mkdirSync(`${target}/inner`, { recursive: true });
    for (const [path, uid] of [
      ['own', 0],
      ['inner/theirs', OTHER_USER],
    ] as const) {
      writeFileSync(`${target}/${path}`, 'x\n', { mode: 0o600 });
      chownSync(`${target}/${path}`, uid, uid);
    }
  }

  it('has another user in each run, and is never root', async () => {
    makeTarget();
    const uids = [];
    for (let n = 0; n < 2; n++)
      uids.push(Number(lines(await project.run(['writes_in', 'target', 'id -u']))[0]));
    for (const uid of uids) assert.ok(uid >= 61_184 && uid <= 65_519, String(uid));
    assert.notEqual(uids[0], uids[1]);
  });

  it('can read and change everything in its write grants, which afterwards have their original owners', async () => {
    makeTarget();
    const run = await project.run([
      'writes_in',
      'target',
      'cat own inner/theirs && echo more >> inner/theirs && mkdir made && echo new > made/new',
    ]);
    assert.deepEqual([run.end.state, lines(run)], ['completed', ['x', 'x']]);
    assert.deepEqual(['', 'own', 'inner', 'inner/theirs', 'made', 'made/new'].map(ownerOf), [
      0,
      0,
      0,
      OTHER_USER,
      0,
      0,
    ]);
    assert.equal(readFileSync(`${target}/inner/theirs`, 'utf8'), 'x\nmore\n');
  });

  it('leaves every file with the owner and the mode that it had, and its own links with those of the folder', async () => {
    makeTarget();
    writeFileSync(`${target}/program`, 'x\n');
    chownSync(`${target}/program`, OTHER_USER, OTHER_USER);
    chmodSync(`${target}/program`, 0o6755);
    symlinkSync('own', `${target}/their-link`);
    lchownSync(`${target}/their-link`, OTHER_USER, OTHER_USER);
    // The new file may get the inode of the removed one, and must not get its owner.
    const replaced = 'rm inner/theirs; for n in 1 2 3 4 5 6 7 8; do echo made > inner/new$n; done';
    const run = await project.run([
      'writes_in',
      'target',
      `${replaced}; ln -s own link; ln -s missing dangling; ln -s missing inner/also; echo no > program || true`,
    ]);
    assert.equal(run.end.state, 'completed', run.stderr);
    const owners = readdirSync(target, { recursive: true, encoding: 'utf8' }).map((path) => {
      const { uid, mode } = lstatSync(`${target}/${path}`);
      return [path, uid, path === 'program' ? mode & 0o7777 : 0];
    });
    const expected: Record<string, number> = { program: OTHER_USER, 'their-link': OTHER_USER };
    assert.deepEqual(
      owners,
      owners.map(([path]) => [path, expected[String(path)] ?? 0, path === 'program' ? 0o6755 : 0]),
    );
    assert.equal(readFileSync(`${target}/program`, 'utf8'), 'x\n');
  });

  it('does not give the files of others to an account, whose other processes could use them', async () => {
    makeTarget();
    spawnSync('chown', ['-R', `${ANYBODY}:${ANYBODY}`, target]);
    chownSync(`${target}/own`, 0, 0);
    const run = await project.run(['writes_in', 'target', 'id -u; cat own; stat -c %u own']);
    const [user, content, owner] = lines(run);
    assert.notEqual(user, String(ANYBODY));
    assert.deepEqual([content, owner], ['x', user]);
    assert.deepEqual(['', 'own', 'inner/theirs'].map(ownerOf), [ANYBODY, 0, ANYBODY]);
  });

  it('leaves a folder that everyone may write, and what others have in it, to their owners meanwhile', async () => {
    makeTarget();
    mkdirSync(`${target}/shared`);
    chmodSync(`${target}/shared`, 0o1777);
    writeFileSync(`${target}/shared/theirs`, 'x\n', { mode: 0o600 });
    chownSync(`${target}/shared/theirs`, OTHER_USER, OTHER_USER);
    const shown = 'stat -c %u . theirs; cat theirs || true; rm theirs || true; echo > new; stat -c %u new';
    for (const args of [
      ['target', `cd shared; ${shown}`],
      ['target/shared', shown],
    ]) {
      const run = await project.run(['writes_in', ...args]);
      const [folder, theirs, own, ...more] = lines(run);
      assert.deepEqual([folder, theirs, more], ['0', String(OTHER_USER), []], run.stderr);
      assert.ok(Number(own) >= 61_184, String(own));
      assert.deepEqual(['shared', 'shared/theirs', 'shared/new'].map(ownerOf), [0, OTHER_USER, 0]);
      assert.equal(statSync(`${target}/shared`).mode & 0o7777, 0o1777);
      rmSync(`${target}/shared/new`);
    }
  });

  it('runs as the owner of everything that it may write, if there is one such owner', async () => {
    makeTarget();
    spawnSync('chown', ['-R', `${ANYBODY}:${ANYBODY}`, target]);
    const run = await project.run(['writes_in', 'target', 'id -u; echo > new']);
    assert.deepEqual(lines(run), [String(ANYBODY)]);
    assert.deepEqual(['', 'own', 'new'].map(ownerOf), [ANYBODY, ANYBODY, ANYBODY]);
  });

  it('reads a file that only root may read, when it is granted', async () => {
    const file = project.write('private', 'for root\n', 0o600);
    const control = spawnSync('setpriv', ['--reuid', String(OTHER_USER), '--clear-groups', 'cat', file]);
    assert.notEqual(control.status, 0, 'no other user may read it');
    assert.deepEqual(lines(await project.run(['reads', 'private'])), ['for root']);
    assert.equal(statSync(file).uid, 0);
  });

  it('leaves no file of its user when its supervisor is killed', async () => {
    makeTarget();
    const running = project.start(['run', 'writes_in', 'target', 'echo > made; echo ready; sleep 600']);
    const { run_id } = await running.event('log');
    assert.ok(ownerOf('made') >= 61_184, 'it is its own while the tool runs');
    running.child.kill('SIGKILL');
    await running.finished;
    await until(() => processesOf(String(run_id)).length === 0);
    await project.acor(['health', '--fix']);
    const { data } = await project.envelope(['show', String(run_id)]);
    assert.equal(data.code, 'E_RUNNER_LOST');
    assert.deepEqual(['', 'own', 'inner/theirs', 'made'].map(ownerOf), [0, 0, OTHER_USER, 0]);
    assert.equal(statSync(project.path('.runs', String(run_id))).uid, 0);
  });

  it('shares its user with another run that writes in the same folder, and the last of them restores the owners', async () => {
    makeTarget();
    const script = (own: string, other: string) =>
      `id -u; echo > ${own}; until [ -e ${other} ]; do sleep 0.05; done; echo x >> ${other}`;
    const runs = await Promise.all([
      project.run(['writes_in', 'target', script('a', 'b')]),
      project.run(['writes_in', 'target', script('b', 'a')]),
    ]);
    assert.deepEqual(
      runs.map(({ end }) => end.state),
      ['completed', 'completed'],
    );
    assert.deepEqual(lines(runs[0]!), lines(runs[1]!));
    assert.deepEqual(['', 'a', 'b', 'own', 'inner/theirs'].map(ownerOf), [0, 0, 0, 0, OTHER_USER]);
  });

  it('does not start when its user may not read it, and the fix in the error works', async () => {
    chmodSync(project.path('tools/reads'), 0o700);
    const refused = await project.run(['reads', 'private']);
    assert.deepEqual([refused.end.state, refused.end.code], ['failed', 'E_PERMISSION']);
    const hint = String(refused.of('runner_error')[0]!.hint);
    assert.equal(spawnSync('sh', ['-c', hint.slice(hint.indexOf('chmod'))]).status, 0);
    assert.equal((await project.run(['reads', 'private'])).end.state, 'completed');
  });
});

const hasLandlock = (await landlock.probe()).available;

describe('a tool that root runs under Landlock', {
  skip: !(canGiveUsers() && hasLandlock && existsSync(BWRAP)),
}, () => {
  let project: TestProject;
  before(() => {
    project = new TestProject();
    project.write('p/tools/reads/cli.py', 'print("read")\n', 0o644);
    project.write('p/.acor/config.yaml', 'version: 1\n', 0o644);
    mkdirSync(project.path('runs'));
    mkdirSync(project.path('bin'));
    for (const path of ['.', 'p', 'p/tools', 'p/tools/reads', 'runs']) chmodSync(project.path(path), 0o755);
  });
  after(() => project[Symbol.dispose]());

  /** Bubblewrap cannot be used there. */
  const run = (folder: string, words: readonly string[], env: Record<string, string> = {}) => {
    const script = 'mount --bind /dev/null "$0" && exec "$@"';
    const argv = ['-m', '--propagation', 'private', 'sh', '-c', script, BWRAP, ACOR, 'run', ...words];
    const { stdout } = spawnSync('unshare', argv, {
      cwd: project.path(folder),
      // The interpreter must be in folders that each user may enter.
      env: { ...project.environment(), PATH: '/usr/bin:/bin', ...env },
      encoding: 'utf8',
    });
    return JSON.parse(stdout);
  };

  for (const [what, closed, start, env] of [
    ['a folder above the tool', 'p/tools', 'p/tools/reads', {}],
    ['the project', 'p', 'p/tools/reads', {}],
    ['the folder of the runs', 'runs', 'in ', { ACOR_PROJECT_RUNS_DIR: '../runs' }],
  ] as const) {
    it(`does not start where its user may not enter ${what}, and the fix in the error works`, () => {
      const folder = project.path(closed);
      chmodSync(folder, 0o700);
      const { error } = run('p', ['--no-stream', 'reads'], env);
      assert.equal(error.code, 'E_PERMISSION');
      assert.ok(error.message.includes(`cannot start ${start === 'in ' ? start : project.path(start)}`));
      assert.ok(error.message.endsWith(`may not enter ${folder}`), error.message);
      assert.doesNotMatch(error.message, /ready|failed/);
      const [, fix] = /^Let it enter: (chmod [^.]+)\. Or install/.exec(error.hint)!;
      assert.equal(spawnSync('sh', ['-c', fix!]).status, 0);
      const { data, error: again } = run('p', ['--no-stream', 'reads'], env);
      assert.equal(data?.state, 'completed', JSON.stringify(again));
    });
  }

  it('does not start by a program in a folder that its user may not enter', () => {
    const folder = project.path('bin');
    project.write('bin/python3', '#!/bin/sh\nexec /usr/bin/python3 "$@"\n', 0o755);
    chmodSync(folder, 0o700);
    const { error } = run('p', ['--no-stream', 'reads'], { PATH: `${folder}:/usr/bin:/bin` });
    assert.deepEqual(
      [error.code, error.message.endsWith(`may not enter ${folder}`)],
      ['E_PERMISSION', true],
      error.message,
    );
  });
});

describe('root without its powers', { skip: !canGiveUsers() }, () => {
  it('runs tools as itself, still in a sandbox', () => {
    using project = new TestProject({ tools: ['quick'] });
    const { status, stdout } = spawnSync(
      'setpriv',
      ['--bounding-set=-all', '--inh-caps=-all', ACOR, 'run', 'quick'],
      { cwd: project.root, encoding: 'utf8' },
    );
    assert.equal(status, 0, stdout);
    const [start, ...rest] = parseLines(stdout);
    const { enforced } = start!.isolation as { enforced: string[] };
    assert.deepEqual([rest.at(-1)!.state, enforced.includes('filesystem')], ['completed', true]);
  });
});
