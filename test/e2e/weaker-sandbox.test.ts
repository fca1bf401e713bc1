import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { bubblewrap } from '../../src/core/sandbox/backends/bubblewrap.ts';
import { landlock } from '../../src/core/sandbox/backends/landlock.ts';
import { canGiveUsers } from '../../src/core/sandbox/identity/run-users.ts';
import { needsMounts, ProjectWithMounts } from '../support/mount-namespace.ts';
import { ACOR, readRun, TestProject } from '../support/project.ts';

const BWRAP = '/usr/bin/bwrap';
const CONFIG = 'version: 1\nenvironment: { cancel_grace_s: 0.3 }\n';
const isHere =
  existsSync(BWRAP) && (await bubblewrap.probe()).available && (await landlock.probe()).available;
// In the namespace of another user, no program belongs to root: each sandbox refuses it.
const options =
  isHere && process.geteuid?.() === 0
    ? needsMounts
    : { skip: 'needs root, bubblewrap to hide, and Landlock' };

const isRoot = canGiveUsers() ? options : { skip: 'needs root, which gives each run a user' };

/** Makes the program unusable. */
const HIDE = `mount --bind /dev/null ${BWRAP}`;
const SAYS = 'isolated by landlock';

describe('a machine without the strongest sandbox', () => {
  it('runs tools in the next one, and warns once', options, async () => {
    using project = await ProjectWithMounts.open({ config: CONFIG });
    project.write('tools/hello', '#!/bin/bash\necho hello\n', 0o755);
    project.shell(HIDE);
    const runs = [];
    for (let number = 0; number < 3; number++) runs.push(readRun(await project.acor(['run', 'hello'])));
    for (const { end, of, stdout } of runs) {
      assert.equal(end.state, 'completed', stdout);
      assert.equal((of('runner_start')[0]!.isolation as { backend: string }).backend, 'landlock');
    }
    const warnings = runs.map(
      ({ of }) => of('runner_warning').filter(({ msg }) => String(msg).includes(SAYS)).length,
    );
    assert.deepEqual(warnings, [1, 0, 0]);
  });

  it(
    'says what the next sandbox closes to each tool, when a program fails because of that',
    options,
    async () => {
      using project = await ProjectWithMounts.open({ config: CONFIG });
      project.write('data.txt', 'text\n');
      project.shell(HIDE);
      const pool = 'import multiprocessing as m; m.Lock()';
      for (const args of [
        ['--read', '.', '--', 'ls', '.'],
        ['--', '/usr/bin/python3', '-c', pool],
      ]) {
        const { end, stdout } = readRun(await project.acor(['exec', ...args]));
        assert.equal(end.state, 'failed', stdout);
        assert.match(String(end.hint), /^Landlock.*\/dev\/shm.*\/etc\/passwd.*\.runs or \.acor/, stdout);
      }
      const control = readRun(await project.acor(['exec', '--read', '.', '--', 'cat', 'data.txt']));
      assert.equal(control.end.state, 'completed', control.stdout);
    },
  );

  it('reports a bubblewrap that is no program, and runs tools in the next sandbox', options, async () => {
    using project = await ProjectWithMounts.open({ config: CONFIG });
    project.write('tools/hello', '#!/bin/bash\necho hello\n', 0o755);
    project.shell(`cp ${BWRAP} bwrap && echo text > bwrap && mount --bind bwrap ${BWRAP}`);
    const { data, error } = await project.envelope(['health']);
    // The next sandbox may be too weak for root, which health reports as well.
    const { checks } = data ?? error.details;
    const check = checks.find(({ detail }: { detail: string }) => detail.includes('does not start'));
    assert.match(JSON.stringify(check), /bwrap does not start.*bubblewrap/);
    const { end, stdout } = readRun(await project.acor(['run', 'hello']));
    assert.equal(end.state, 'completed', stdout);
  });

  it('names its installation before a host of a tool or program', options, async () => {
    using project = await ProjectWithMounts.open({ config: CONFIG });
    const url = 'https://example.com/x';
    const permissions = 'permissions: { level: standard, commands: [curl] }';
    project.write('tools/fetches/tool.yaml', `adapter: plain\n${permissions}\n`);
    project.write('tools/fetches/cli.sh', `#!/bin/bash\ncurl -sS ${url}\n`, 0o755);
    const calls = [
      ['exec', '--no-stream', '--', 'curl', '-sS', url],
      ['run', 'fetches', '--no-stream'],
    ];
    const hints = async () => {
      const answers = [];
      for (const args of calls) answers.push((await project.envelope(args)).error.hint);
      return answers;
    };
    for (const hint of await hints()) {
      assert.match(hint, /example\.com:443/);
      assert.doesNotMatch(hint, /install/, 'the control');
    }
    project.shell(HIDE);
    for (const hint of await hints())
      assert.match(
        hint,
        /install bubblewrap \(.+\), because the sandbox 'landlock' .*; then .*example\.com:443/,
      );
    const refused = await project.envelope(['exec', '--net', 'example.com:443', '--', 'curl', '-sS', url]);
    assert.equal(refused.error.code, 'E_SANDBOX_UNAVAILABLE');
    assert.match(refused.error.hint, /^Install bubblewrap: .*; or leave out --net\.$/);
  });

  it(
    'names the folder above a program or a file that the user of the run may not enter',
    isRoot,
    async () => {
      using project = new TestProject({ config: CONFIG });
      chmodSync(project.root, 0o755);
      // Of the mode 700.
      const closed = mkdtempSync(join(tmpdir(), 'acor-closed-'));
      try {
        const file = join(closed, 'data.txt');
        const program = join(closed, 'bin/own_program');
        mkdirSync(dirname(program));
        writeFileSync(file, 'text\n', { mode: 0o644 });
        writeFileSync(program, '#!/bin/sh\necho hello\n', { mode: 0o755 });
        const env = project.environment({ PATH: `${dirname(program)}:${process.env.PATH}` });
        for (const [path, args] of [
          [program, ['--cmd', 'own_program', '--', 'sh', '-c', 'own_program']],
          [file, ['--read', file, '--', 'cat', file]],
        ] as const) {
          const exec = (before: string) => {
            const script = `${before}; exec "$@"`;
            const words = ['-m', 'sh', '-c', script, 'sh', ACOR, 'exec', '--no-stream', ...args];
            return JSON.parse(
              spawnSync('unshare', words, { cwd: project.root, env, encoding: 'utf8' }).stdout,
            );
          };
          assert.ok(exec(':').ok, 'the control: bubblewrap mounts it');
          const { hint } = exec(HIDE).error;
          const start = `${path} is below ${closed}, which the Unix user of the run, who is not root, may not enter: `;
          const fix = `chmod o+x ${closed}`;
          assert.ok(hint.startsWith(`${start}${fix}. Or install bubblewrap`), hint);
          assert.equal(spawnSync('sh', ['-c', fix]).status, 0);
          assert.ok(exec(HIDE).ok);
          chmodSync(closed, 0o700);
        }
      } finally {
        rmSync(closed, { recursive: true });
      }
    },
  );

  it('probes the sandbox again after a working one has failed a run', options, async () => {
    using project = await ProjectWithMounts.open({ config: CONFIG });
    project.write('tools/hello', '#!/bin/bash\necho hello\n', 0o755);
    const backendOf = async () => {
      const run = readRun(await project.acor(['run', 'hello']));
      return [
        (run.of('runner_start')[0]!.isolation as { backend: string }).backend,
        run.end.state,
        run.end.code,
      ];
    };
    assert.deepEqual((await backendOf()).slice(0, 2), ['bubblewrap', 'completed']);
    // The kernel's answer to this user namespace changes, but nothing that the cached result depends on.
    project.shell('echo 0 > /proc/sys/user/max_pid_namespaces');
    assert.deepEqual(await backendOf(), ['bubblewrap', 'failed', 'E_SANDBOX_UNAVAILABLE']);
    assert.deepEqual((await backendOf()).slice(0, 2), ['landlock', 'completed']);
  });
});
