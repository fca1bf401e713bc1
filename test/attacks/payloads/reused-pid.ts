// Run as the first process of a PID namespace of its own: has the kernel give the pid of a tool that has ended to somebody else, and
// prints whether that one is still alive after the tree of the tool was signalled.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync, writeSync } from 'node:fs';
import { ProcessTree } from '../../../src/core/process/kill-tree.ts';
import { loadRuntime } from '../../../src/core/process/runtime.ts';
import { readProcess } from '../../../src/util/process-table.ts';

const runtime = await loadRuntime();
const tool = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
const pid = tool.pid!;
const tree = new ProcessTree(runtime, { rootPid: pid, runId: 'r-none', adopts: false });
const started = readProcess(pid)!.startTime;
const isToolGone = once(tool, 'exit');
tool.kill('SIGKILL');
await isToolGone;
let other = tool;
// The kernel counts the time of a start in steps of 10 ms; nobody's pid comes round within one.
for (let round = 0; round === 0 || other.pid !== pid || readProcess(pid)?.startTime === started; round++) {
  if (round > 2000) throw new Error('the pid was not given again');
  if (round > 0) {
    const gone = once(other, 'exit');
    other.kill('SIGKILL');
    await gone;
  }
  writeFileSync('/proc/sys/kernel/ns_last_pid', String(pid - 1));
  other = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
  await once(other, 'spawn');
}
if (process.argv[2] === 'by-number') process.kill(pid, 'SIGTERM');
else {
  tree.signal('SIGTERM');
  await tree.kill();
}
// A signal that was sent has ended it, or is on its way.
const status = readFileSync(`/proc/${pid}/status`, 'utf8');
const isSignalled = /^State:\t[ZX]|^(Shd|Sig)Pnd:\t0*[1-9a-f]/m.test(status);
writeSync(1, isSignalled ? 'signalled\n' : 'spared\n');
other.kill('SIGKILL');
process.exit(0);
