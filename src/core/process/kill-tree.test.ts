import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, before, beforeEach, describe, it } from 'node:test';
import { childrenOf, commandLineOf, isAlive, readProcess } from '../../util/process-table.ts';
import { ProcessTree } from './kill-tree.ts';
import { loadRuntime } from './load-runtime.ts';
import type { Runtime } from './runtime.ts';

/** Leaves a file when it gets SIGTERM, and stays. */
const notes = (name: string) =>
  `trap 'echo >"$NOTES/${name}"' TERM; touch "$NOTES/${name}-ready"; while :; do sleep 0.02; done`;

describe('signals to the tree of a tool', { skip: process.platform !== 'linux' && 'Linux' }, () => {
  let runtime: Runtime;
  let folder: string;
  const started: ChildProcess[] = [];
  before(async () => {
    runtime = await loadRuntime();
  });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'acor-tree-'));
  });
  afterEach(() => {
    for (const { pid } of started.splice(0)) {
      try {
        process.kill(-pid!, 'SIGKILL');
      } catch {
        // It has ended.
      }
    }
    rmSync(folder, { recursive: true, force: true });
  });

  function start(script: string): number {
    const child = spawn('/bin/bash', ['-c', script], {
      detached: true,
      stdio: 'ignore',
      env: { PATH: process.env['PATH'], NOTES: folder },
    });
    started.push(child);
    return child.pid!;
  }

  const treeOf = (
    rootPid: number,
    more: { sandboxProcessDepth?: number; isProxyProcess?: boolean; hasReaper?: boolean } = {},
  ) => new ProcessTree(runtime, { rootPid, run: { runId: 'r-none', folder }, adopts: false, ...more });
  const has = (name: string) => existsSync(join(folder, name));
  async function until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  function isThere(pid: number): boolean {
    const info = readProcess(pid);
    return info !== undefined && isAlive(info);
  }

  it('reach the group of the tool as well, in which an orphan may be', async () => {
    const root = start(`(bash -c '${notes('orphan').replaceAll("'", `'"'"'`)}' &) ; ${notes('root')}`);
    await until(() => has('orphan-ready') && has('root-ready'));
    const tree = treeOf(root);
    // It is an orphan once the shell between them has exited, which may be after both are ready.
    await until(() =>
      tree.members().every(({ pid }) => !commandLineOf(pid).includes('orphan-ready') || pid === root),
    );
    tree.signal('SIGTERM');
    await until(() => has('orphan') && has('root'));
  });

  it('ask the tool and not the sandbox around it', async () => {
    const quoted = (script: string) => `bash -c '${script.replaceAll("'", `'"'"'`)}'`;
    const around = `trap 'echo >"$NOTES/sandbox"' TERM;`;
    const inner = `${around} ${quoted(notes('tool'))} & while :; do sleep 0.02; done`;
    const root = start(`${around} ${quoted(inner)} & while :; do sleep 0.02; done`);
    await until(() => has('tool-ready'));
    const tree = treeOf(root, { sandboxProcessDepth: 2 });
    assert.ok(tree.members().some(({ pid }) => pid === root));
    assert.deepEqual(tree.orphans(), []);
    tree.signal('SIGTERM');
    await until(() => has('tool'));
    assert.equal(has('sandbox'), false);
    assert.deepEqual(await tree.kill(), []);
    await until(() => !isThere(root));
    // The control: without a sandbox, it is asked too.
    const bare = start(
      `trap 'echo >"$NOTES/sandbox"; exit' TERM; touch "$NOTES/bare-ready"; while :; do sleep 0.02; done`,
    );
    await until(() => has('bare-ready'));
    treeOf(bare).signal('SIGTERM');
    await until(() => has('sandbox'));
  });

  it('kill the sandbox from the inside', async () => {
    const root = start(
      `bash -c '${notes('tool').replaceAll("'", `'"'"'`)}'; touch "$NOTES/after"; sleep 600`,
    );
    await until(() => has('tool-ready'));
    const [inner] = childrenOf(root);
    const sent: number[] = [];
    const { kill } = process;
    process.kill = (pid, signal) => {
      sent.push(pid);
      return kill.call(process, pid, signal);
    };
    try {
      treeOf(root, { sandboxProcessDepth: 2 }).signal('SIGKILL');
    } finally {
      process.kill = kill;
    }
    assert.deepEqual(
      sent.slice(0, 2),
      [inner ?? root, root].filter((pid, at, all) => all.indexOf(pid) === at),
    );
    await until(() => !isThere(root));
  });

  it('go to the proxy alone, which forwards them, until it is killed', async () => {
    const root = start(`bash -c '${notes('tool').replaceAll("'", `'"'"'`)}' & ${notes('proxy')}`);
    await until(() => has('tool-ready') && has('proxy-ready'));
    const tree = treeOf(root, { isProxyProcess: true });
    tree.signal('SIGTERM');
    await until(() => has('proxy'));
    assert.equal(has('tool'), false);
    assert.deepEqual(await tree.kill(), []);
    await until(() => !isThere(root));
  });

  it('are sent until no process is left, and not longer', async () => {
    const root = start(notes('root'));
    await until(() => has('root-ready'));
    const tree = treeOf(root);
    assert.deepEqual(await tree.kill(), []);
    await until(() => !isThere(root));
    let rounds = 0;
    const { setTimeout: own } = globalThis;
    globalThis.setTimeout = ((...given: Parameters<typeof own>) => {
      rounds++;
      return own(...given);
    }) as typeof own;
    try {
      assert.deepEqual(await tree.kill(), []);
    } finally {
      globalThis.setTimeout = own;
    }
    assert.equal(rounds, 1);
  });

  it('kill the sandbox too, when it stays although nothing is left in it', async () => {
    const root = start('exec sleep 600');
    await until(() => commandLineOf(root).startsWith('sleep'));
    const tree = treeOf(root, { sandboxProcessDepth: 1, hasReaper: true });
    assert.deepEqual(await tree.kill(), []);
    await until(() => !isThere(root));
  });

  it('are sent again and again, while there are other processes each time, up to 50 times in a row', async () => {
    const env = { PATH: process.env['PATH'], RUN_ID: 'r-forks', WORKSPACE: join(folder, 'work') };
    const born: number[] = [];
    const tree = new ProcessTree(runtime, { rootPid: -1, run: { runId: 'r-forks', folder }, adopts: false });
    const bear = () => {
      const child = spawn('/bin/sleep', ['600'], { detached: true, stdio: 'ignore', env });
      started.push(child);
      born.push(child.pid!);
      // It has its environment a moment later.
      while (tree.members().every(({ pid }) => pid !== child.pid));
    };
    bear();
    const { kill } = process;
    const { setTimeout: own } = globalThis;
    let inARow: number | undefined;
    process.kill = (pid, signal) => {
      const isSent = kill.call(process, pid, signal);
      // A process that forks and exits: its child is there before the next look.
      if (born.at(-1) === pid && inARow === undefined) bear();
      return isSent;
    };
    globalThis.setTimeout = Object.assign((...given: Parameters<typeof own>) => {
      inARow ??= born.length - 1;
      return own(...given);
    }, own);
    try {
      assert.deepEqual(await tree.kill(), []);
    } finally {
      process.kill = kill;
      globalThis.setTimeout = own;
    }
    assert.equal(inARow, 50);
    for (const pid of born) assert.equal(isThere(pid), false);
  });
});
