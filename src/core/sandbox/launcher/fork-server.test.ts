import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { HANG_MS, until } from '../../../../test/support/project.ts';
import { SandboxRig } from '../../../../test/support/sandbox-rig.ts';
import { isAlive, readProcess } from '../../../util/process-table.ts';
import { loadRuntime } from '../../process/load-runtime.ts';
import { none } from '../backends/none.ts';
import { architecture } from '../profile/profile.ts';
import { trustedPath } from '../trusted-program.ts';
import { ForkServer } from './fork-server.ts';

const HERE = import.meta.dirname;

/** A process that starts a tool through a fork server, prints their pids, and waits for the tool. */
const PROGRAM = `
const script = process.argv.at(-1);
const load = (path) => import('${HERE}/' + path);
Promise.all([load('../../../../test/support/sandbox-rig.ts'), load('../backends/none.ts'), load('../../../util/process-table.ts')]).then(
  async ([{ SandboxRig }, { none }, { readProcess }]) => {
    const rig = await SandboxRig.make('fork');
    const { ended, rootPid } = await rig.start(none, script);
    console.log(rootPid, readProcess(rootPid).parentPid);
    const { exit } = await ended;
    console.log(exit.rc);
    require('node:fs').rmSync(rig.root, { recursive: true });
  },
);
`;

/** A process whose launcher has ended when it says that it waits for it: without orders a launcher ends at once. */
const LATE_PROGRAM = `
const load = (path) => import('${HERE}/' + path);
Promise.all([load('./fork-server.ts'), load('../../process/load-runtime.ts'), load('../profile/profile.ts')]).then(
  async ([{ ForkServer }, { loadRuntime }, { architecture }]) => {
    const parts = { perl: '/usr/bin/perl', architecture: architecture() };
    const server = await ForkServer.start(await loadRuntime(), parts, process.argv.at(-1));
    const open = require('node:fs').openSync('/dev/null', 'r+');
    const child = await server.spawn({ argv: ['unused'], cwd: '/', env: {}, stdin: open, stdout: open, stderr: open });
    console.log((await child.exited).rc);
    child.holdsProcess(true);
  },
);
`;

function isGone(pid: number): boolean {
  const found = readProcess(pid);
  return found === undefined || !isAlive(found);
}

describe('a fork server', () => {
  let rig: SandboxRig;
  before(async () => {
    rig = await SandboxRig.make('fork');
  });
  after(() => rig.remove());

  it('starts a tool as a fork of itself, and reports how it ended and what it used', async () => {
    const { stdout, rc, signal, exit } = await rig.bash(none, 'ps -o ppid= -p $$; exit 7');
    assert.deepEqual([rc, signal], [7, null]);
    assert.ok(exit.usage.cpu_s! > 0);
    const server = Number(stdout);
    assert.match(readFileSync(`/proc/${server}/cmdline`, 'utf8'), /perl/);
    const killed = await rig.bash(none, 'ps -o ppid= -p $$; kill -9 $$');
    assert.deepEqual([killed.rc, killed.signal, Number(killed.stdout)], [null, 'SIGKILL', server]);
  });

  it('measures the memory of the tool and not its own', async () => {
    const small = await rig.bash(none, 'exec /bin/true');
    assert.equal(small.exit.usage.max_rss_bytes, null);
    const large = await rig.bash(none, `exec perl -e '$x = "x" x 50_000_000'`);
    assert.ok(large.exit.usage.max_rss_bytes! > 50_000_000);
  });

  it('leaves a tool with its own session, no blocked or ignored signal, and its three descriptors', async () => {
    const { stdout } = await rig.bash(
      none,
      // No pipe in this list: until the shell has closed its own ends of it, they would count.
      'ps -o sid=,pid= -p $$; for fd in {0..99}; do [ -e /proc/$$/fd/$fd ] && printf "%s " $fd; done; echo; exec grep -E "SigBlk|SigIgn" /proc/self/status',
    );
    const [session, descriptors, blocked, ignored] = stdout.trim().split('\n');
    assert.match(session!, /^ *(\d+) +\1$/);
    assert.match(blocked!, /^SigBlk:\s+0+$/);
    assert.match(ignored!, /^SigIgn:\s+0+$/);
    assert.equal(descriptors!.trim(), '0 1 2');
  });

  it('has forks that know nothing of one another', async () => {
    const [first, second] = await Promise.all([
      rig.bash(none, 'env; sleep 0.05', { env: { OF_THE_FIRST: '1' } }),
      rig.bash(none, 'env', { env: { OF_THE_SECOND: '2' } }),
    ]);
    assert.match(first.stdout, /OF_THE_FIRST=1/);
    assert.doesNotMatch(first.stdout, /OF_THE_SECOND/);
    assert.match(second.stdout, /OF_THE_SECOND=2/);
    assert.doesNotMatch(second.stdout, /OF_THE_FIRST/);
  });

  it('takes its tools with it when it is killed', async () => {
    const own = await SandboxRig.make('fork');
    try {
      const tools = [await own.start(none, 'sleep 600'), await own.start(none, 'sleep 600')];
      const server = readProcess(tools[0]!.rootPid)!.parentPid;
      process.kill(server, 'SIGKILL');
      for (const { ended, rootPid } of tools) {
        const { exit } = await ended;
        assert.equal(exit.signal, 'SIGKILL');
        await until(() => isGone(rootPid));
      }
    } finally {
      own.remove();
    }
  });

  it('ends with the process that started it, and the tool as well', async () => {
    const program = spawn(process.execPath, ['-e', PROGRAM, 'sleep 600'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [line] = (await once(program.stdout.setEncoding('utf8'), 'data')) as [string];
    const [tool, server] = line.split(' ').map(Number) as [number, number];
    assert.ok(!isGone(tool) && !isGone(server));
    program.kill('SIGKILL');
    await until(() => isGone(tool) && isGone(server));
  });

  it('does not keep the process alive when no tool is at work', () => {
    const program = spawnSync(process.execPath, ['-e', PROGRAM, 'sleep 0.05; exit 3'], {
      encoding: 'utf8',
      timeout: HANG_MS,
    });
    assert.equal(program.stdout.split('\n')[1], '3', program.stderr);
    assert.equal(program.status, 0);
  });

  it('stays while a tool is at work, ends when none has come for a while, and starts again for the next', async () => {
    const own = await SandboxRig.make('fork', { idleMs: 20 });
    try {
      const serverOf = async () => {
        const { stdout, rc } = await own.bash(none, 'sleep 0.2; ps -o ppid= -p $$');
        assert.equal(rc, 0);
        return Number(stdout);
      };
      const first = await serverOf();
      await until(() => isGone(first));
      assert.notEqual(await serverOf(), first);
    } finally {
      own.remove();
    }
  });

  it('does not keep the process alive for a launcher that ended before anything waited for it', () => {
    const program = spawnSync(process.execPath, ['-e', LATE_PROGRAM, join(rig.run, 'control')], {
      encoding: 'utf8',
      timeout: HANG_MS,
    });
    assert.deepEqual([program.stdout, program.status], ['125\n', 0], program.stderr);
  });

  it('rejects a request for a descriptor that is not open, and takes the next one', async () => {
    const runtime = await loadRuntime();
    const server = await ForkServer.start(
      runtime,
      { perl: trustedPath('perl'), architecture: architecture()! },
      join(rig.run, 'control'),
    );
    try {
      const open = openSync('/dev/null', 'r+');
      const request = {
        argv: ['unused'],
        cwd: '/',
        env: {},
        stdin: open,
        stdout: open,
        stderr: 9999,
      } as const;
      await assert.rejects(server.spawn(request), /error 2/);
      // A launcher without orders ends by itself.
      const { exited } = await server.spawn({ ...request, stderr: open });
      assert.equal((await exited).rc, 125);
      assert.equal(server.isBusy, false);
      closeSync(open);
    } finally {
      server.close();
    }
    await until(() => server.hasEnded);
    await assert.rejects(
      server.spawn({ argv: ['unused'], cwd: '/', env: {}, stdout: 0, stderr: 0 }),
      /takes no request/,
    );
  });
});
