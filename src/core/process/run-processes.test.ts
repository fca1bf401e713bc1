import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { environmentOf, processesWithEnvironment } from '../../util/process-table.ts';
import { ProcessTree } from './kill-tree.ts';
import { loadRuntime } from './load-runtime.ts';
import { isSameFolder, processesOfRun, type RunIdentity } from './run-processes.ts';
import type { Runtime } from './runtime.ts';
import { Watchdog } from './watchdog.ts';

const needsProc = { skip: process.platform !== 'linux' && 'needs /proc' };

/** Two stores with a run of the same id, as after `cp -a`, and a link to the second. */
describe('the processes of a run', needsProc, () => {
  let root: string;
  let runtime: Runtime;
  let count = 0;
  const started: ChildProcess[] = [];
  before(async () => {
    root = realpathSync(mkdtempSync(join(tmpdir(), 'acor-copies-')));
    runtime = await loadRuntime();
  });
  after(() => {
    for (const child of started) child.kill('SIGKILL');
    rmSync(root, { recursive: true, force: true });
  });

  function copies() {
    const runId = `r-copies-${process.pid}-${count++}`;
    const folderIn = (store: string) => join(root, `${runId}-${store}`, runId);
    for (const store of ['original', 'copy']) mkdirSync(join(folderIn(store), 'work'), { recursive: true });
    symlinkSync(join(root, `${runId}-copy`), join(root, `${runId}-link`));
    const [original, copy, link] = ['original', 'copy', 'link'].map(
      (store): RunIdentity => ({ runId, folder: folderIn(store) }),
    ) as [RunIdentity, RunIdentity, RunIdentity];
    return { runId, original, copy, link };
  }

  /** A process that a tool of this run started, and that went to another working directory. */
  async function start({ runId, folder }: RunIdentity, env: Record<string, string> = {}): Promise<number> {
    const own = { WORKSPACE: join(folder, 'work'), CANCEL_FILE: join(folder, 'control', 'tool', 'CANCEL') };
    const child = spawn('sleep', ['600'], {
      cwd: '/',
      detached: true,
      stdio: 'ignore',
      env: { PATH: process.env['PATH'], RUN_ID: runId, ...own, ...env },
    });
    started.push(child);
    // Before it executes the program, the process has the environment of this one.
    while (environmentOf(child.pid!, 'RUN_ID') !== runId)
      await new Promise((resolve) => setTimeout(resolve, 2));
    return child.pid!;
  }

  const isAlive = (pid: number) =>
    started.some((child) => child.pid === pid && child.exitCode === null && child.signalCode === null);
  const untilDead = async (pid: number) => {
    while (isAlive(pid)) await new Promise((resolve) => setTimeout(resolve, 5));
  };

  it('are those whose environment names its folder, through a link or not', async () => {
    const { runId, original, copy, link } = copies();
    const [ofOriginal, ofCopy, throughLink] = [await start(original), await start(copy), await start(link)];
    assert.deepEqual(processesOfRun(original), [ofOriginal]);
    assert.deepEqual(processesOfRun(copy).sort(), [ofCopy, throughLink].sort());
    assert.deepEqual(processesOfRun(link).sort(), [ofCopy, throughLink].sort());
    // The control: the id alone finds all of them.
    assert.equal(processesWithEnvironment('RUN_ID', runId).length, 3);
  });

  it('are those of one folder, whatever path leads to it, and of a removed one by its path', () => {
    const { original, copy, link } = copies();
    assert.equal(isSameFolder(copy.folder, link.folder), true);
    assert.equal(isSameFolder(copy.folder, original.folder), false);
    assert.equal(isSameFolder('/none/r-1', '/none/r-1'), true);
    assert.equal(isSameFolder('/none/r-1', copy.folder), false);
  });

  it('include one that changed WORKSPACE, or that names no folder', async () => {
    const { runId, original, copy } = copies();
    const changed = await start(copy, { WORKSPACE: '/elsewhere/ws' });
    const bare = await start(copy, { WORKSPACE: '', CANCEL_FILE: '' });
    assert.deepEqual(processesOfRun(copy).sort(), [changed, bare].sort());
    assert.deepEqual(processesOfRun(original), [bare]);
    assert.equal(processesWithEnvironment('RUN_ID', runId).length, 2);
  });

  it('are killed as a tree without those of the same run in another store', async () => {
    const { original, copy } = copies();
    const [ofOriginal, orphan, rootPid] = [await start(original), await start(copy), await start(copy)];
    const tree = new ProcessTree(runtime, { rootPid, run: copy, adopts: false });
    assert.deepEqual(await tree.kill(), []);
    for (const pid of [orphan, rootPid]) await untilDead(pid);
    assert.equal(isAlive(ofOriginal), true);
  });

  it('are killed by a watchdog without those of the same run in another store', async () => {
    const { runId, original, copy, link } = copies();
    const ofOriginal = await start(original);
    const mine = [await start(copy), await start(link), await start(copy, { WORKSPACE: '/elsewhere/ws' })];
    const watchdog = new Watchdog(runtime, runId, { folder: copy.folder });
    watchdog.abandon();
    for (const pid of mine) await untilDead(pid);
    while (isThere(watchdog.pid)) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(isAlive(ofOriginal), true);
    // The control: by the id alone, a watchdog kills those of the other store.
    const careless = new Watchdog(runtime, runId);
    careless.abandon();
    await untilDead(ofOriginal);
  });
});

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
