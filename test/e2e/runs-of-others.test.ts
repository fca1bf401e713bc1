import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { shellCommand } from '../../src/util/shell-words.ts';
import { ACOR, TestProject } from '../support/project.ts';

const USER = 12_345;
const skip = process.getuid?.() !== 0 && 'only root can work as two users';

/** A project of an ordinary user in which root has run a tool as well, as by one `sudo acor run`. */
async function sharedProject(userConfig = 'version: 1\n') {
  const project = new TestProject({ tools: ['quick'] });
  // The folder of the checkout may be closed to that user.
  const folder = mkdtempSync(join(tmpdir(), 'acor-other-'));
  chmodSync(folder, 0o755);
  const program = join(folder, 'acor');
  cpSync(ACOR, program);
  const home = join(folder, 'home');
  const as = (args: string[]) => {
    const user = [`--reuid=${USER}`, `--regid=${USER}`, '--clear-groups'];
    const env = { HOME: home, PATH: process.env.PATH!, TMPDIR: tmpdir() };
    const { stdout } = spawnSync('setpriv', [...user, program, ...args], {
      cwd: project.root,
      env,
      encoding: 'utf8',
    });
    return JSON.parse(stdout);
  };
  mkdirSync(join(home, '.config/acor'), { recursive: true });
  writeFileSync(join(home, '.config/acor/config.yaml'), userConfig);
  spawnSync('chown', ['-R', `${USER}:${USER}`, home, project.root]);
  chownSync(project.root, USER, USER);
  const dispose = () => {
    rmSync(folder, { recursive: true, force: true });
    project[Symbol.dispose]();
  };
  return { project, as, [Symbol.dispose]: dispose };
}

describe('a run of another user of the same project', () => {
  it('is reported as that, with who may read it and how, and not as damage', { skip }, async () => {
    using shared = await sharedProject();
    const { project, as } = shared;
    const own = as(['run', 'quick', '--no-stream']).data.run_id;
    const { end } = await project.run(['quick']);
    const other = String(end.run_id);
    const folder = project.path('.runs', other);
    const give = shellCommand(['chown', '-R', String(USER), folder]);

    const listed = as(['runs']);
    assert.deepEqual(
      listed.data.runs.map(({ run_id }: { run_id: string }) => run_id),
      [own],
    );
    const [warning, ...more] = listed.meta.warnings;
    assert.equal(
      warning,
      `run ${other} belongs to root, and this user may not read it. Read it as root, or as root give it to this user: ${give}`,
    );
    assert.deepEqual([more, listed.meta.next ?? []], [[], []]);

    const verified = as(['verify']);
    assert.equal(verified.error.code, 'E_PERMISSION', JSON.stringify(verified));
    assert.deepEqual(verified.error.details.closed, [other]);
    assert.deepEqual([verified.error.details.counts.problems, verified.error.details.ledger], [0, []]);
    assert.ok(verified.error.hint.endsWith(give), verified.error.hint);

    assert.ok(as(['show', other]).error.hint.includes(`as root give it to this user (${give})`));
    assert.equal(spawnSync('sh', ['-c', give]).status, 0);
    assert.equal(as(['verify']).data.ok, true);
  });

  it('is named by each command that asks for the last run where there is no other', { skip }, async () => {
    using shared = await sharedProject();
    const { project, as } = shared;
    // The control: the project has no run at all.
    assert.equal(as(['show']).error.message, 'the project has no run yet');
    const { end } = await project.run(['quick']);
    for (const words of [
      ['show'],
      ...[
        'show',
        'verify',
        'artifacts',
        'cancel',
        'answer',
        'resume',
        'wait',
        'attach',
        'diff',
        'discard',
      ].map((command) => [command, 'last']),
      ['logs'],
      ['runs', 'rm', 'last'],
      ['replay', 'last'],
    ]) {
      const { code, message, hint } = as(words).error;
      assert.deepEqual([code, message], ['E_RUN_NOT_FOUND', 'the project has no run that can be read']);
      assert.match(hint, new RegExp(`^Run ${end.run_id} belongs to root, and this user may not read it`));
      assert.match(hint, /as root give it to this user: chown -R/);
    }
  });

  it('makes a store that this user cannot write, which a run and health report with the same fix', {
    skip,
  }, async () => {
    using shared = await sharedProject();
    const { project, as } = shared;
    await project.run(['quick']);
    const give = `as root give it to this user \\(chown -R ${USER} ${project.path('.runs')}`;
    for (const words of [['run', 'quick', '--no-stream'], ['health']]) {
      const { message, hint } = as(words).error;
      assert.match(message, /permission denied: cannot /);
      assert.match(hint, new RegExp(`^It belongs to root\\. Do this as root, or ${give}.*\\)`));
    }
  });

  it('does not make a command propose to take a folder of the system or of another user', {
    skip,
  }, async () => {
    using shared = await sharedProject();
    for (const folder of ['/', '/etc']) {
      const { message, hint } = shared.as(['--cwd', folder, 'exec', '--no-stream', '--', 'true']).error;
      assert.match(message, /permission denied: cannot /);
      assert.equal(
        hint,
        `${folder} belongs to root. Work in a folder of this user, or set project.runs_dir to a writable folder (ACOR_PROJECT_RUNS_DIR=…).`,
      );
    }
  });

  it('does not hide what is changed in a run of this user', { skip }, async () => {
    using shared = await sharedProject();
    const { project, as } = shared;
    const own = as(['run', 'quick', '--no-stream']).data.run_id;
    await project.run(['quick']);
    project.write(`.runs/${own}/events.jsonl`, '{}\n');
    const { error } = as(['verify']);
    assert.equal(error.code, 'E_INTEGRITY');
    assert.equal(error.details.closed.length, 1);
  });
});

const GROUP = 12_340;
const SECOND = 12_346;

/** A project whose folder and store a group may write. Each user of it has the usual umask. */
function projectOfGroup() {
  const project = new TestProject();
  project.write('tools/marks/cli.sh', '#!/bin/bash\necho done\n', 0o755);
  const folder = mkdtempSync(join(tmpdir(), 'acor-other-'));
  chmodSync(folder, 0o755);
  const program = join(folder, 'acor');
  cpSync(ACOR, program);
  const as = (user: number, words: readonly string[]) => {
    const home = join(folder, `home-${user}`);
    mkdirSync(home, { recursive: true });
    chownSync(home, user, user);
    const ids = [`--reuid=${user}`, `--regid=${user}`, `--groups=${GROUP}`];
    return spawnSync('setpriv', [...ids, 'sh', '-c', `umask 022; exec ${shellCommand(words)}`], {
      cwd: project.root,
      env: { HOME: home, PATH: process.env.PATH!, TMPDIR: tmpdir() },
      encoding: 'utf8',
    });
  };
  mkdirSync(project.path('.runs'), { recursive: true });
  spawnSync('chown', ['-R', `${USER}:${GROUP}`, project.root]);
  spawnSync('find', [project.root, '-type', 'd', '-exec', 'chmod', 'g+rwxs', '{}', '+']);
  return {
    project,
    acor: (user: number, ...args: string[]) => JSON.parse(as(user, [program, ...args]).stdout),
    shell: (user: number, command: string) => as(user, ['sh', '-c', command]),
    /** As an administrator does after the first run. */
    openFolders: () =>
      ['leases', 'queue', 'cache'].map((name) => chmodSync(project.path('.runs', name), 0o2775)),
    [Symbol.dispose]: () => {
      rmSync(folder, { recursive: true, force: true });
      project[Symbol.dispose]();
    },
  };
}

describe('a store that a group shares', () => {
  it('has a ledger for all users of the group, whatever the umask of the first one is', { skip }, () => {
    using shared = projectOfGroup();
    const { project, acor, openFolders } = shared;
    assert.equal(acor(USER, 'run', 'marks', '--no-stream').ok, true);
    openFolders();
    assert.equal(statSync(project.path('.runs/ledger.jsonl')).mode & 0o777, 0o664);
    for (const user of [SECOND, USER])
      assert.equal(acor(user, 'run', 'marks', '--no-stream').data?.state, 'completed', String(user));
  });

  it('starts no tool of a user who may not write the ledger, and health and the run say who does what', {
    skip,
  }, () => {
    using shared = projectOfGroup();
    const { project, acor, shell, openFolders } = shared;
    const first = acor(USER, 'run', 'marks', '--no-stream').data.run_id;
    openFolders();
    const ledger = project.path('.runs/ledger.jsonl');
    chmodSync(ledger, 0o644);
    const fix = shellCommand(['chmod', 'g+w', ledger]);
    const says = `It belongs to uid ${USER}. As uid ${USER} or as root, let its group write it (${fix})`;
    const { error } = acor(SECOND, 'run', 'marks', '--no-stream');
    assert.equal(error.code, 'E_STORAGE');
    assert.ok(error.message.includes('cannot write the ledger') && error.hint.startsWith(says), error.hint);
    assert.deepEqual(project.runIds(), [first]);
    const { checks } = acor(SECOND, 'health').error.details;
    const check = checks.find(({ name }: { name: string }) => name === 'store.permissions');
    assert.ok(check.status === 'blocked' && check.fix.startsWith(says), JSON.stringify(check));
    assert.equal(shell(USER, fix).status, 0);
    assert.equal(acor(SECOND, 'run', 'marks', '--no-stream').data?.state, 'completed');
  });
});

describe('a folder of the store that belongs to another user', () => {
  const closed = (project: TestProject, name: string) => {
    const folder = project.path('.runs', name);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return { folder, give: shellCommand(['chown', '-R', String(USER), folder]) };
  };

  it('costs a run its messages and nothing else when it is the outbox, with a warning that has the fix', {
    skip,
  }, async () => {
    using shared = await sharedProject('version: 1\nnotify: [{ on: [failure], program: [cat] }]\n');
    const { project, as } = shared;
    as(['run', 'quick', '--no-stream']);
    const { folder, give } = closed(project, 'outbox');
    const run = as(['run', 'quick', '--no-stream']);
    assert.equal(run.data?.state, 'completed', JSON.stringify(run));
    assert.match(run.meta.warnings[0], /^the run sends no messages: permission denied: .*outbox/);
    assert.ok(run.meta.warnings[0].includes(give), run.meta.warnings[0]);
    const sent = as(['outbox']);
    assert.equal(sent.error.code, 'E_STORAGE', JSON.stringify(sent));
    rmSync(folder, { recursive: true });
    assert.equal(as(['run', 'quick', '--no-stream']).meta.warnings, undefined);
  });

  it('is named by the failure of a run and its fix, and by the health of the project', { skip }, async () => {
    using shared = await sharedProject('version: 1\nbudget: { max_runs: 4 }\n');
    const { project, as } = shared;
    as(['run', 'quick', '--no-stream']);
    for (const name of ['queue', 'leases', 'keys', 'ledger', 'packs', 'removed', 'tasks', 'cache']) {
      const { folder, give } = closed(project, name);
      const run = as(['run', 'quick', '--no-stream', '--idempotency-key', name]);
      if (!run.ok) {
        assert.equal(run.error.code, 'E_STORAGE', `${name}: ${JSON.stringify(run)}`);
        assert.ok(run.error.hint.includes(give), `${name}: ${run.error.hint}`);
      }
      const health = JSON.stringify(as(['health', '--json']));
      assert.ok(health.includes(folder), `${name}: ${health}`);
      rmSync(folder, { recursive: true });
    }
  });
});
