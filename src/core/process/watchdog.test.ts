import assert from 'node:assert/strict';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { childrenOf, isAlive, readProcess, workingFolderOf } from '../../util/process-table.ts';
import { loadRuntime } from './load-runtime.ts';
import type { Runtime } from './runtime.ts';
import { killWatchdog, startShell, Watchdog, Watchdogs, watchdogsOf } from './watchdog.ts';

const PROGRAMS = ['/bin/bash', '/bin/sh'].filter((path) => existsSync(path));
const notLinux = process.platform !== 'linux' && 'Linux';

/** A watchdog with a process that is only pretended, and what it hears. */
function pretended(options?: ConstructorParameters<typeof Watchdog>[2]) {
  const heard: string[] = [];
  const started: { argv: readonly string[]; env: Readonly<Record<string, string>>; cwd: string }[] = [];
  const runtime = {
    startCompanion(argv: readonly string[], env: Readonly<Record<string, string>>, cwd: string) {
      started.push({ argv, env, cwd });
      return { pid: -1, write: (line: string) => heard.push(line), close: () => heard.push('(end)') };
    },
  } as unknown as Runtime;
  return { watchdog: new Watchdog(runtime, 'r-1', options), heard, ...started[0]! };
}

describe('a watchdog hears', () => {
  it('its run, and the time that is left in whole seconds, one at least, and none where a system cannot wait so long', () => {
    const { watchdog, heard } = pretended();
    const most = (2 ** 31 - 1) * 1000;
    for (const ms of [0, 1, 1000, 1001, 59_001, most, most + 1, undefined]) watchdog.limitTime(ms);
    assert.deepEqual(heard, [
      'run r-1',
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

  it('the group of the tool, how to end it, that it is gone, and that all is done', async () => {
    const { watchdog, heard } = pretended();
    watchdog.watchGroup(77);
    watchdog.endBy(['docker', 'rm', 'a name']);
    watchdog.forgetGroup();
    // Of the next attempt.
    watchdog.watchGroup(78);
    watchdog.forgetGroup();
    await until(() => heard.length === 6);
    watchdog[Symbol.dispose]();
    const words = ['run r-1', '77', "end docker rm 'a name'", 'gone', '78', 'gone', 'done', '(end)'];
    assert.deepEqual(heard, words);
  });

  it('once that a run is over, whose tool is gone', async () => {
    const { watchdog, heard } = pretended();
    watchdog.watchGroup(77);
    watchdog.forgetGroup();
    watchdog[Symbol.dispose]();
    assert.deepEqual(heard, ['run r-1', '77', 'done', '(end)']);
    const next = pretended();
    next.watchdog.watchGroup(77);
    next.watchdog.forgetGroup();
    next.watchdog.abandon();
    assert.deepEqual(next.heard, ['run r-1', '77', 'gone', '(end)']);
  });

  it('nothing of the environment but a path, in the folder of its run, and ends without a word when it is abandoned', () => {
    const { watchdog, heard, argv, env, cwd } = pretended({ folder: '/runs/r-1' });
    assert.deepEqual(argv.slice(-2), ['acor-watchdog', String(process.pid)]);
    const { PATH = '', ...others } = env;
    assert.deepEqual([others, cwd], [{}, '/runs/r-1']);
    for (const folder of ['/bin', '/usr/bin']) assert.ok(PATH.split(':').includes(folder));
    watchdog.abandon();
    assert.deepEqual(heard, ['run r-1', '(end)']);
    assert.equal(pretended().cwd, '/');
  });
});

for (const program of PROGRAMS)
  describe(`a watchdog in ${program}`, { skip: notLinux }, () => {
    it('kills the group of the tool at its time limit, and serves the next run afterwards', async () => {
      const runtime = await loadRuntime();
      const shell = startShell(runtime, undefined, program);
      // The limit of the first run is not that of the second.
      for (const [limitMs, isKilled] of [
        [1, true],
        [3_600_000, false],
        [1, true],
      ] as const) {
        using folder = new Folder();
        const tool = await sleeper(runtime, folder.path);
        const watchdog = new Watchdog(runtime, 'r-limited', { folder: folder.path, shell, release() {} });
        watchdog.watchGroup(tool.pid);
        watchdog.limitTime(limitMs);
        await until(() => workingFolderOf(shell.pid) === folder.path);
        if (isKilled) assert.equal((await tool.exited).signal, 'SIGKILL');
        watchdog.forgetGroup();
        watchdog[Symbol.dispose]();
        await until(() => workingFolderOf(shell.pid) === '/');
        if (isKilled) continue;
        // No subshell waits for the end of a run that is over.
        await until(() => childrenOf(shell.pid).length === 0);
        assert.ok(isThere(tool.pid));
        process.kill(tool.pid, 'SIGKILL');
        await tool.exited;
      }
      shell.close();
      await until(() => !isThere(shell.pid));
    });

    it('kills the run that it was given last when its supervisor dies, and removes its secrets only', async () => {
      const runtime = await loadRuntime();
      const shell = startShell(runtime, undefined, program);
      using first = new Folder();
      using second = new Folder();
      new Watchdog(runtime, 'r-first', { folder: first.path, shell, release() {} })[Symbol.dispose]();
      const [other, tool] = [await sleeper(runtime, first.path), await sleeper(runtime, second.path)];
      const watchdog = new Watchdog(runtime, 'r-second', { folder: second.path, shell });
      watchdog.watchGroup(tool.pid);
      watchdog.abandon();
      assert.equal((await tool.exited).signal, 'SIGKILL');
      await until(() => !isThere(shell.pid));
      assert.deepEqual([first.hasSecrets, second.hasSecrets], [true, false]);
      assert.ok(isThere(other.pid));
      process.kill(other.pid, 'SIGKILL');
      await other.exited;
    });

    it('executes no file of its user, although its input is a socket', async () => {
      using folder = new Folder();
      const ran = join(folder.path, 'ran');
      for (const name of ['.bashrc', '.bash_profile', '.profile'])
        writeFileSync(join(folder.path, name), `: >'${ran}'\n`);
      const bun = await loadRuntime();
      const atHome: Runtime = {
        ...bun,
        startCompanion: (argv, env, cwd) => bun.startCompanion(argv, { ...env, HOME: folder.path }, cwd),
      };
      const shell = startShell(atHome, undefined, program);
      shell.write(`in ${folder.path}`);
      await until(() => workingFolderOf(shell.pid) === folder.path);
      assert.equal(existsSync(ran), false);
      shell.close();
      await until(() => !isThere(shell.pid));
    });

    it('is killed with all by which it waits for the time limit', async () => {
      const runtime = await loadRuntime();
      using folder = new Folder();
      const shell = startShell(runtime, folder.path, program);
      const watchdog = new Watchdog(runtime, 'r-hangs', { folder: folder.path, shell });
      watchdog.limitTime(3_600_000);
      const waiting = () => childrenOf(shell.pid).flatMap((pid) => [pid, ...childrenOf(pid)]);
      if (program === '/bin/sh' && realpathSync('/bin/sh') !== realpathSync('/bin/bash')) {
        await until(() => waiting().length === 2);
        assert.deepEqual(watchdogsOf(process.pid, folder.path), [shell.pid], 'its subshell is no other one');
      }
      const all = [shell.pid, ...waiting()];
      process.kill(shell.pid, 'SIGSTOP');
      killWatchdog(shell.pid);
      await until(() => !all.some(isThere));
    });
  });

describe('the watchdogs of a process that supervises many runs', { skip: notLinux }, () => {
  it('are one shell, until a tool has killed or stopped it', async () => {
    const runtime = await loadRuntime();
    const watchdogs = new Watchdogs();
    const watched = async () => {
      using folder = new Folder();
      const watchdog = watchdogs.watch(runtime, 'r-many', folder.path);
      const { pid } = watchdog;
      await until(() => watchdogsOf(process.pid, folder.path).includes(pid));
      watchdog[Symbol.dispose]();
      await until(() => workingFolderOf(pid) === '/');
      assert.deepEqual(watchdogsOf(process.pid, folder.path), []);
      return pid;
    };
    // A shell that happens to be stopped in this moment is not reused.
    const reused = async () => {
      for (let before = await watched(); ; ) {
        const pid = await watched();
        if (pid === before) return pid;
        before = pid;
      }
    };
    for (const signal of ['SIGKILL', 'SIGSTOP'] as const) {
      const pid = await reused();
      process.kill(pid, signal);
      await until(() => !'SRD'.includes(readProcess(pid)?.state ?? 'X'));
      assert.notEqual(await watched(), pid);
      // A stopped shell does not read the end of its input.
      if (signal === 'SIGSTOP') process.kill(pid, 'SIGKILL');
    }
    process.kill(await reused(), 'SIGKILL');
  });

  it('end when no run has begun for a time', async () => {
    const watchdogs = new Watchdogs(1);
    using folder = new Folder();
    const watchdog = watchdogs.watch(await loadRuntime(), 'r-only', folder.path);
    watchdog[Symbol.dispose]();
    await until(() => !isThere(watchdog.pid));
  });

  it('do not reuse a shell that has not yet read the end of its run', async () => {
    const runtime = await loadRuntime();
    const watchdogs = new Watchdogs();
    using folder = new Folder();
    const first = watchdogs.watch(runtime, 'r-late', folder.path);
    await until(() => workingFolderOf(first.pid) === folder.path);
    process.kill(first.pid, 'SIGSTOP');
    await until(() => readProcess(first.pid)?.state === 'T');
    first[Symbol.dispose]();
    using second = watchdogs.watch(runtime, 'r-next', folder.path);
    assert.notEqual(second.pid, first.pid);
    process.kill(first.pid, 'SIGCONT');
    await until(() => !isThere(first.pid));
    process.kill(second.pid, 'SIGKILL');
  });

  it('start in the folder of the run where a path cannot stand in a line', async () => {
    const runtime = await loadRuntime();
    const watchdogs = new Watchdogs();
    using folder = new Folder('two\nlines');
    const all = [1, 2].map(() => {
      const watchdog = watchdogs.watch(runtime, 'r-lines', folder.path);
      assert.equal(workingFolderOf(watchdog.pid), folder.path);
      watchdog[Symbol.dispose]();
      return watchdog.pid;
    });
    assert.notEqual(all[0], all[1]);
    for (const pid of all) process.kill(pid, 'SIGKILL');
    await until(() => !all.some(isThere));
  });

  it('are as many as there were runs at once, at most four', async () => {
    const runtime = await loadRuntime();
    const watchdogs = new Watchdogs();
    using folder = new Folder();
    const together = async (count: number) => {
      const all = Array.from({ length: count }, () => watchdogs.watch(runtime, 'r-many', folder.path));
      await until(() => all.every(({ pid }) => workingFolderOf(pid) === folder.path));
      for (const each of all) each[Symbol.dispose]();
      const pids = all.map(({ pid }) => pid);
      await until(() => pids.every((pid) => !isThere(pid) || workingFolderOf(pid) === '/'));
      return pids;
    };
    const first = await together(6);
    await until(() => first.filter(isThere).length === 4);
    // One that happens to be stopped in this moment is not reused.
    const second = await together(4);
    assert.ok(second.filter((pid) => first.includes(pid)).length >= 2, `${first} ${second}`);
    for (const pid of new Set([...first, ...second])) if (isThere(pid)) process.kill(pid, 'SIGKILL');
  });
});

describe('a watchdog that its supervisor has left behind', { skip: notLinux }, () => {
  it('counts for each run of that supervisor until it has read which one it watches', async () => {
    const runtime = await loadRuntime();
    using folder = new Folder();
    // A supervisor that exits, and its shell that has not got to its input.
    const script = `/bin/sh -c 'sleep 600; exit 0' acor-watchdog $$ >/dev/null 2>&1 & echo $!`;
    const { stdout, exited, pid } = await runtime.spawn({
      argv: ['/bin/sh', '-c', script],
      cwd: '/',
      env: { PATH: process.env['PATH']! },
      stdout: 'pipe',
      stderr: 'pipe',
    });
    let text = '';
    for await (const chunk of stdout!) text += Buffer.from(chunk).toString();
    await exited;
    const left = Number(text);
    await until(() => watchdogsOf(pid, folder.path).includes(left));
    // The control: one whose supervisor lives waits for its next run.
    const free = startShell(runtime);
    await until(() => workingFolderOf(free.pid) === '/');
    assert.deepEqual(watchdogsOf(process.pid, folder.path), []);
    for (const shell of [left, free.pid]) killWatchdog(shell);
  });
});

/** A folder of a run with secrets. */
class Folder implements Disposable {
  readonly path: string;

  constructor(name = 'a run') {
    this.path = join(realpathSync(mkdtempSync(join(tmpdir(), 'acor-watchdog-'))), name);
    mkdirSync(join(this.path, 'secrets'), { recursive: true });
  }

  get hasSecrets(): boolean {
    return existsSync(join(this.path, 'secrets'));
  }

  [Symbol.dispose](): void {
    rmSync(dirname(this.path), { recursive: true });
  }
}

function sleeper(runtime: Runtime, cwd: string) {
  return runtime.spawn({
    argv: ['/bin/sleep', '600'],
    cwd,
    env: { PATH: process.env['PATH']! },
    stdout: 'pipe',
    stderr: 'pipe',
  });
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

function isThere(pid: number): boolean {
  const info = readProcess(pid);
  return info !== undefined && isAlive(info);
}
