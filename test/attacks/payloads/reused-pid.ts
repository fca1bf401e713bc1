// Runs as the first process of its own PID namespace: makes the kernel assign the pid of an ended tool to another process, and prints
// whether that process received the signal sent to the tree of the tool; with `by-number`, the signal sent to the pid.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync, writeSync } from 'node:fs';
import { ProcessTree } from '../../../src/core/process/kill-tree.ts';
import { loadRuntime } from '../../../src/core/process/load-runtime.ts';
import { readProcess } from '../../../src/util/process-table.ts';

const ROUNDS = 100;
const runtime = await loadRuntime();

let answer: string | undefined;
while (answer === undefined) answer = await tryOnce();
writeSync(1, `${answer}\n`);
process.exit(0);

/** Undefined when another process or thread, such as a thread of this process, has got the number. */
async function tryOnce(): Promise<string | undefined> {
  const tool = await start();
  const pid = tool.pid!;
  const tree = new ProcessTree(runtime, {
    rootPid: pid,
    run: { runId: 'r-none', folder: '/nonexistent' },
    adopts: false,
  });
  const started = readProcess(pid)!.startTime;
  await end(tool);
  for (let round = 0; round < ROUNDS; round++) {
    writeFileSync('/proc/sys/kernel/ns_last_pid', String(pid - 1));
    const other = await start();
    // The kernel counts start times in steps of 10 ms; no pid is reused within one step.
    if (other.pid !== pid || readProcess(pid)?.startTime === started) {
      await end(other);
      continue;
    }
    if (process.argv[2] === 'by-number') process.kill(pid, 'SIGTERM');
    else {
      tree.signal('SIGTERM');
      await tree.kill();
    }
    // The signal has ended the process, or is on its way.
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return /^State:\t[ZX]|^(Shd|Sig)Pnd:\t0*[1-9a-f]/m.test(status) ? 'signalled' : 'spared';
  }
  return undefined;
}

async function start(): Promise<ChildProcess> {
  const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  await once(child, 'spawn');
  return child;
}

async function end(child: ChildProcess): Promise<void> {
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
