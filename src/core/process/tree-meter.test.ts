import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { afterEach, describe, it } from 'node:test';
import { isAlive, readProcess } from '../../util/process-table.ts';
import { TreeMeter } from './tree-meter.ts';

const PAGE_BYTES = Number(execFileSync('getconf', ['PAGESIZE'], { encoding: 'utf8' }));
const TICKS_PER_S = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }));

/** Uses processor time in the program and in the kernel, until both show. */
const WORKS = `
def work():
    while True:
        t = os.times()
        if t.user >= 0.05 and t.system >= 0.05: return
        for n in range(2000): pass
        for n in range(200): os.stat("/")
`;

describe('the meter of a process tree', { skip: process.platform !== 'linux' && 'Linux' }, () => {
  const started: ChildProcess[] = [];
  afterEach(() => {
    for (const child of started.splice(0)) {
      try {
        process.kill(-child.pid!, 'SIGKILL');
      } catch {
        // It has ended.
      }
    }
  });

  /** Starts a Python program, and returns with the words of the line that it writes when it stands. */
  async function start(script: string): Promise<{ pid: number; words: number[] }> {
    const child = spawn('python3', ['-c', `import os, subprocess, sys, threading, time\n${script}`], {
      detached: true,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    started.push(child);
    let text = '';
    for await (const part of child.stdout!) {
      text += part;
      if (text.includes('\n')) break;
    }
    return { pid: child.pid!, words: text.trim().split(' ').slice(1).map(Number) };
  }

  const meterOf = (rootPid: number, sandboxProcessDepth = 0, strays: number[] = []) =>
    new TreeMeter({ rootPid, sandboxProcessDepth, strays: () => strays });

  /** The fields of /proc/<pid>/stat by their numbers in proc(5). */
  function stat(pid: number): (field: number) => number {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return (field) => Number(fields[field - 3]);
  }

  const sleeps = (pid: number) => /^State:\tS/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  async function until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  it('adds up the processor time of a process and of its children that have ended', async () => {
    const { pid } = await start(`${WORKS}
if os.fork() == 0:
    work()
    os._exit(0)
os.wait()
work()
print("ready", flush=True)
time.sleep(600)`);
    await until(() => sleeps(pid));
    const fields = stat(pid);
    const times = [14, 15, 16, 17].map(fields);
    assert.ok(
      times.every((ticks) => ticks > 0),
      `${times}`,
    );
    const { cpuS, processes, rssBytes } = meterOf(pid).measure();
    assert.equal(cpuS, times.reduce((sum, ticks) => sum + ticks, 0) / TICKS_PER_S);
    assert.equal(processes, 1);
    assert.equal(rssBytes, fields(24) * PAGE_BYTES);
  });

  it('counts a process that is alive, whichever thread started it, and no zombie', async () => {
    const { pid, words } = await start(`
made = []
worker = threading.Thread(target=lambda: (made.append(subprocess.Popen(["sleep", "600"])), time.sleep(600)), daemon=True)
worker.start()
while not made: time.sleep(0.01)
if os.fork() == 0: os._exit(0)
print("ready", made[0].pid, flush=True)
time.sleep(600)`);
    const [child] = words as [number];
    await until(() => readFileSync(`/proc/${child}/comm`, 'utf8').trim() === 'sleep');
    const meter = meterOf(pid);
    await until(() => meter.measure().processes === 2);
    assert.equal(meter.measure().rssBytes, (stat(pid)(24) + stat(child)(24)) * PAGE_BYTES);
    assert.equal(meter.anyPid, pid);
  });

  it('does not count the memory and the number of the processes of a sandbox, but their time', async () => {
    const { pid, words } = await start(`${WORKS}
work()
child = subprocess.Popen(["sleep", "600"])
print("ready", child.pid, flush=True)
time.sleep(600)`);
    const [child] = words as [number];
    await until(
      () => sleeps(pid) && readFileSync(`/proc/${child}/comm`, 'utf8').trim() === 'sleep' && sleeps(child),
    );
    const meter = meterOf(pid, 1);
    const { cpuS, processes, rssBytes } = meter.measure();
    assert.deepEqual([processes, meter.anyPid, rssBytes], [1, child, stat(child)(24) * PAGE_BYTES]);
    assert.ok(cpuS >= (stat(pid)(14) + stat(pid)(15)) / TICKS_PER_S);
    const outer = meterOf(pid, 2);
    assert.deepEqual([outer.measure().processes, outer.anyPid, outer.exactBytes()], [0, undefined, 0]);
    // An orphan is a process of the tool itself, however deep the sandbox is.
    const stray = meterOf(-1, 2, [child]);
    assert.deepEqual([stray.measure().processes, stray.anyPid], [1, child]);
  });

  it('never counts the process that measures, which has the tool among its children', async () => {
    assert.equal(meterOf(-1, 0, [process.pid]).measure().processes, 0);
  });

  it('keeps an orphan that it has seen, and the time of one that has ended', async () => {
    const { pid, words } = await start(`${WORKS}
orphan = os.fork()
if orphan == 0:
    work()
    time.sleep(600)
print("ready", orphan, flush=True)
time.sleep(600)`);
    const [orphan] = words as [number];
    await until(() => stat(orphan)(14) > 0 && sleeps(orphan));
    const meter = meterOf(pid);
    assert.equal(meter.measure().processes, 2);
    process.kill(pid, 'SIGKILL');
    await until(() => !isThere(pid));
    const alone = meter.measure();
    assert.deepEqual([alone.processes, meter.anyPid], [1, orphan]);
    assert.ok(alone.cpuS > 0);
    // Another meter has not seen it.
    assert.equal(meterOf(pid).measure().processes, 0);
    process.kill(orphan, 'SIGKILL');
    await until(() => !isThere(orphan));
    const { processes, cpuS } = meter.measure();
    assert.equal(processes, 0);
    assert.ok(cpuS >= alone.cpuS);
  });

  it('counts pages that processes share once, where the system reports them', async () => {
    const { pid, words } = await start(`
block = bytearray(os.urandom(1 << 24))
child = os.fork()
if child == 0:
    time.sleep(600)
print("ready", child, flush=True)
time.sleep(600)`);
    const [child] = words as [number];
    await until(() => sleeps(pid) && sleeps(child));
    const meter = meterOf(pid);
    const { rssBytes } = meter.measure();
    let exact = meter.exactBytes();
    const proportional = () =>
      [pid, child]
        .flatMap((each) => [
          ...readFileSync(`/proc/${each}/smaps_rollup`, 'utf8').matchAll(/^(?:Pss|SwapPss): +(\d+) kB$/gm),
        ])
        .reduce((sum, [, kib]) => sum + Number(kib) * 1024, 0);
    // Other programs map and unmap the same libraries between two readings.
    await until(() => {
      exact = meter.exactBytes();
      const expected = proportional();
      return Math.abs(exact - expected) < expected / 20;
    });
    assert.ok(rssBytes - exact > 1 << 23, `${rssBytes} ${exact}`);
    // What was measured last counts for a process that has ended since.
    process.kill(child, 'SIGKILL');
    await until(() => !isThere(child));
    assert.ok(meter.exactBytes() > exact);
  });

  function isThere(pid: number): boolean {
    const info = readProcess(pid);
    return info !== undefined && isAlive(info);
  }
});
