import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { until } from '../../../test/support/project.ts';
import { isAlive, readProcess } from '../../util/process-table.ts';
import { ProcessTree } from './kill-tree.ts';
import { loadRuntime } from './load-runtime.ts';
import { OutputPump } from './output-pump.ts';
import type { Runtime } from './runtime.ts';
import { Watchdog } from './watchdog.ts';

const isLinux = process.platform === 'linux';
const PATH = process.env.PATH ?? '/usr/bin:/bin';

describe('a tool’s process', () => {
  let runtime: Runtime;
  let folder: string;
  let count = 0;
  before(async () => {
    runtime = await loadRuntime();
    folder = mkdtempSync(join(tmpdir(), 'acor-process-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** Runs a bash script to its end and gathers what it writes, over FIFOs or over the runtime's own pipes. */
  async function gather(script: string, over: 'fifo' | 'pipe') {
    let stdout = '';
    let stderr = '';
    let closed = false;
    const sinks = {
      stdout(bytes: Uint8Array) {
        stdout += Buffer.from(bytes).toString('latin1');
      },
      stderr(bytes: Uint8Array) {
        stderr += Buffer.from(bytes).toString('latin1');
      },
      onTurn() {},
      onStdoutClosed() {
        closed = true;
      },
    };
    const pump = new OutputPump(runtime, over === 'fifo' ? folder : null, sinks);
    const child = await runtime.spawn({
      argv: ['/bin/bash', '-c', script],
      cwd: folder,
      env: { PATH },
      ...pump.targets,
    });
    pump.start(child);
    const exit = await child.exited;
    await pump.drain();
    pump.close();
    return { stdout, stderr, closed, exit };
  }

  it('is read in smaller pieces when one takes long, so that timers get their turn', {
    skip: !isLinux && 'Linux',
  }, async () => {
    const sizes: number[] = [];
    const slow = (bytes: Uint8Array) => {
      sizes.push(bytes.length);
      // As long as a flood of tiny lines takes.
      for (const until = performance.now() + bytes.length / 1000; performance.now() < until; );
    };
    const pump = new OutputPump(runtime, folder, {
      stdout: slow,
      stderr() {},
      onTurn() {},
      onStdoutClosed() {},
    });
    const child = await runtime.spawn({
      argv: ['/bin/sh', '-c', 'head -c 2000000 /dev/zero'],
      cwd: folder,
      env: { PATH },
      ...pump.targets,
    });
    pump.start(child);
    await child.exited;
    // Draining has a limit of time, which this reader would exceed on a busy machine.
    await until(() => sizes.reduce((sum, size) => sum + size, 0) === 2_000_000);
    await pump.drain();
    pump.close();
    assert.ok(Math.min(...sizes.slice(0, -1)) <= 65_536, `${sizes}`);
  });

  for (const over of ['fifo', 'pipe'] as const) {
    describe(`over a ${over}`, () => {
      it('hands on both streams to their ends', async () => {
        const { stdout, stderr, closed, exit } = await gather('echo out; echo err >&2; exit 3', over);
        assert.deepEqual([stdout, stderr, closed, exit.rc, exit.signal], ['out\n', 'err\n', true, 3, null]);
      });

      it('loses nothing of a large output that comes in one go, nor of what comes after a pause', async () => {
        const { stdout } = await gather('head -c 5000000 /dev/zero; sleep 0.1; echo end', over);
        assert.equal(stdout.length, 5_000_004);
        assert.ok(stdout.endsWith('end\n'));
      });

      it('reports the signal that ended it', async () => {
        const { exit } = await gather('kill -9 $$', over);
        assert.deepEqual([exit.rc, exit.signal], [null, 'SIGKILL']);
      });

      it('has its standard input at its end', async () => {
        const { stdout } = await gather('cat; echo done', over);
        assert.equal(stdout, 'done\n');
      });
    });
  }

  it('can open its streams by name, which a runtime’s own pipes would not allow', {
    skip: !isLinux,
  }, async () => {
    assert.equal((await gather('echo named > /dev/stdout', 'fifo')).stdout, 'named\n');
    assert.equal((await gather('echo named > /dev/stdout', 'pipe')).stdout, '');
  });

  it('leaves no FIFO behind', () => {
    assert.deepEqual(readdirSync(folder), []);
  });

  describe('that cannot be started is reported with the error of the system', () => {
    const start = (argv: [string, ...string[]]) =>
      runtime.spawn({ argv, cwd: folder, env: {}, stdout: 'pipe', stderr: 'pipe' });

    it('when there is no such program, or none such in its first line', async () => {
      await assert.rejects(start(['/no/such/program']), { code: 'ENOENT' });
      const path = join(folder, 'unread');
      writeFileSync(path, '#!/no/such/interpreter\n', { mode: 0o755 });
      await assert.rejects(start([path]), { code: 'ENOENT' });
    });

    it('when its mode bits do not let it run, until they do', async () => {
      const path = join(folder, 'locked');
      writeFileSync(path, '#!/bin/sh\nexit 7\n', { mode: 0o644 });
      await assert.rejects(start([path]), { code: 'EACCES' });
      chmodSync(path, 0o755);
      assert.equal((await (await start([path])).exited).rc, 7);
    });

    it('when one of its arguments is longer than the system takes', { skip: !isLinux }, async () => {
      await assert.rejects(start(['/bin/true', 'x'.repeat(200_000)]), { code: 'E2BIG' });
    });
  });

  describe('when it is killed', { skip: !isLinux }, () => {
    /** Starts a tree that marks itself with a run id and is deaf to SIGTERM; returns when it stands. */
    async function startTree(script: string) {
      const runId = `r-test-${process.pid}-${count++}`;
      const child = await runtime.spawn({
        argv: ['/bin/bash', '-c', script],
        cwd: folder,
        env: { PATH, RUN_ID: runId },
        stdout: 'pipe',
        stderr: 'pipe',
      });
      const first = await (child.stdout as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]().next();
      assert.equal(Buffer.from(first.value as Uint8Array).toString(), 'ready\n');
      return { runId, child };
    }
    const FAMILY = `trap '' TERM; setsid sh -c 'trap "" TERM; sleep 600' & (setsid sleep 600 &) ; sleep 600 & echo ready; wait`;

    /** A shell says that it is ready before the last of its children has become what it is to be. */
    async function grown(tree: ProcessTree): Promise<void> {
      while (tree.members().length < 4) await new Promise((resolve) => setTimeout(resolve, 5));
    }

    it('takes its whole tree with it, other sessions and orphans too', async () => {
      const { runId, child } = await startTree(FAMILY);
      const tree = new ProcessTree(runtime, { rootPid: child.pid, run: { runId, folder }, adopts: false });
      await grown(tree);
      const members = tree.members();
      assert.deepEqual(await tree.kill(), []);
      // A killed process that is about to end has no environment any more, by which the tree would find it.
      const isOver = ({ pid, startTime }: { pid: number; startTime: number }) => {
        const now = readProcess(pid);
        return now === undefined || !isAlive(now) || now.startTime !== startTime;
      };
      await until(() => members.every(isOver));
    });

    it('survives a mere SIGTERM to its process group (the control of the test above)', async () => {
      const { runId, child } = await startTree(FAMILY);
      process.kill(-child.pid, 'SIGTERM');
      const tree = new ProcessTree(runtime, { rootPid: child.pid, run: { runId, folder }, adopts: false });
      assert.ok(tree.members().length >= 2);
      await tree.kill();
    });

    it('is killed by its watchdog when the supervisor is gone', async () => {
      const { runId, child } = await startTree(FAMILY);
      const watchdog = new Watchdog(runtime, runId);
      const tree = new ProcessTree(runtime, { rootPid: child.pid, run: { runId, folder }, adopts: false });
      await grown(tree);
      watchdog.abandon();
      while (tree.members().length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    });

    it('does not fail because its watchdog was killed before it', async () => {
      const watchdog = new Watchdog(runtime, `r-test-${process.pid}-${count++}`);
      process.kill(watchdog.pid, 'SIGKILL');
      while (isStillThere(watchdog.pid)) await new Promise((resolve) => setTimeout(resolve, 5));
      for (let group = 1; group < 20; group++) watchdog.watchGroup(group);
      watchdog[Symbol.dispose]();
    });

    it('has a watchdog that ends at once, however often its time limit was replaced', async () => {
      const watchdog = new Watchdog(runtime, `r-test-${process.pid}-${count++}`);
      for (let round = 0; round < 300; round++) {
        watchdog.limitTime(3_600_000);
        watchdog.limitTime(undefined);
      }
      watchdog[Symbol.dispose]();
      while (isStillThere(watchdog.pid)) await new Promise((resolve) => setTimeout(resolve, 5));
    });

    it('is left alone by a watchdog that was dismissed', async () => {
      const { runId, child } = await startTree(FAMILY);
      const watchdog = new Watchdog(runtime, runId);
      const tree = new ProcessTree(runtime, { rootPid: child.pid, run: { runId, folder }, adopts: false });
      watchdog[Symbol.dispose]();
      while (isStillThere(watchdog.pid)) await new Promise((resolve) => setTimeout(resolve, 5));
      await grown(tree);
      await tree.kill();
    });
  });
});

function isStillThere(pid: number): boolean {
  const info = readProcess(pid);
  return info !== undefined && isAlive(info);
}
