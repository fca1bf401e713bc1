import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { childrenOf, environmentOf, isAlive, readProcess } from '../../util/process-table.ts';
import { loadRuntime } from './load-runtime.ts';
import type { Runtime } from './runtime.ts';
import { Watchdog, watchdogsOf, watchdogsOfRun } from './watchdog.ts';

/** A watchdog with a process that is only pretended, and what it hears. */
function pretended(options?: ConstructorParameters<typeof Watchdog>[2]) {
  const heard: string[] = [];
  const started: { argv: readonly string[]; env: Readonly<Record<string, string>> }[] = [];
  const runtime = {
    startCompanion(argv: readonly string[], env: Readonly<Record<string, string>>) {
      started.push({ argv, env });
      return { pid: -1, write: (line: string) => heard.push(line), close: () => heard.push('(end)') };
    },
  } as unknown as Runtime;
  return { watchdog: new Watchdog(runtime, 'r-1', options), heard, ...started[0]! };
}

describe('a watchdog hears', () => {
  it('the time that is left in whole seconds, one at least, and none where a system cannot wait so long', () => {
    const { watchdog, heard } = pretended();
    const most = (2 ** 31 - 1) * 1000;
    for (const ms of [0, 1, 1000, 1001, 59_001, most, most + 1, undefined]) watchdog.limitTime(ms);
    assert.deepEqual(heard, [
      'limit 1',
      'limit 1',
      'limit 1',
      'limit 2',
      'limit 60',
      'limit 2147483647',
      'unlimited',
      'unlimited',
    ]);
  });

  it('the group of the tool, how to end it, that it is gone, and that all is done', () => {
    const { watchdog, heard } = pretended();
    watchdog.watchGroup(77);
    watchdog.endBy(['docker', 'rm', 'a name']);
    watchdog.forgetGroup();
    watchdog[Symbol.dispose]();
    assert.deepEqual(heard, ['77', "end docker rm 'a name'", 'gone', 'done', '(end)']);
  });

  it('only its folders and a path of its own, and ends without a word when it is abandoned', () => {
    const { watchdog, heard, argv, env } = pretended({
      folder: '/runs/r-1',
      removedFolder: '/runs/r-1/secrets',
    });
    assert.deepEqual([argv[0], argv.slice(-2)], ['/bin/sh', ['acor-watchdog', 'r-1']]);
    const { PATH = '', ...folders } = env;
    assert.deepEqual(folders, { RUN_FOLDER: '/runs/r-1', REMOVED_FOLDER: '/runs/r-1/secrets' });
    for (const folder of ['/bin', '/usr/bin']) assert.ok(PATH.split(':').includes(folder));
    watchdog.abandon();
    assert.deepEqual(heard, ['(end)']);
    assert.deepEqual(pretended().env, { PATH, RUN_FOLDER: '', REMOVED_FOLDER: '' });
  });
});

describe('the watchdogs of a run', { skip: process.platform !== 'linux' && 'Linux' }, () => {
  it('are found by its id, and by its folder where they have one', async () => {
    const runtime = await loadRuntime();
    const runId = `r-watched-${process.pid}`;
    const folder = mkdtempSync(join(tmpdir(), 'acor-watchdog-'));
    const [bare, own, other] = ['', folder, '/elsewhere'].map(
      (each) => new Watchdog(runtime, runId, { folder: each }),
    ) as [Watchdog, Watchdog, Watchdog];
    const all = [bare, own, other];
    try {
      // The shell has its environment from its first moment on, and its name when it has begun.
      while (watchdogsOf(runId).length < 3) await new Promise((resolve) => setTimeout(resolve, 5));
      const byPid = (a: number, b: number) => a - b;
      assert.deepEqual(watchdogsOf(runId).sort(byPid), all.map(({ pid }) => pid).sort(byPid));
      assert.deepEqual(watchdogsOfRun({ runId, folder }).sort(byPid), [bare.pid, own.pid].sort(byPid));
      assert.deepEqual(watchdogsOf(`${runId}0`), []);
      assert.equal(environmentOf(own.pid, 'RUN_FOLDER'), folder);
      // The subshell that waits for the time limit is not a watchdog.
      own.limitTime(3_600_000);
      const isWaiting = () => childrenOf(own.pid).length > 0;
      while (!isWaiting()) await new Promise((resolve) => setTimeout(resolve, 5));
      assert.equal(watchdogsOf(runId).length, 3);
    } finally {
      for (const each of all) each[Symbol.dispose]();
      rmSync(folder, { recursive: true });
    }
    while (all.some(({ pid }) => isThere(pid))) await new Promise((resolve) => setTimeout(resolve, 5));
  });
});

describe('an abandoned watchdog', { skip: process.platform !== 'linux' && 'Linux' }, () => {
  it('removes the folder that must not remain, and one that is done does not', async () => {
    const runtime = await loadRuntime();
    for (const isAbandoned of [true, false]) {
      const removedFolder = mkdtempSync(join(tmpdir(), 'acor-removed-'));
      const watchdog = new Watchdog(runtime, `r-removes-${process.pid}`, { removedFolder });
      if (isAbandoned) watchdog.abandon();
      else watchdog[Symbol.dispose]();
      while (isThere(watchdog.pid)) await new Promise((resolve) => setTimeout(resolve, 5));
      assert.equal(existsSync(removedFolder), !isAbandoned);
      rmSync(removedFolder, { recursive: true, force: true });
    }
  });
});

function isThere(pid: number): boolean {
  const info = readProcess(pid);
  return info !== undefined && isAlive(info);
}
