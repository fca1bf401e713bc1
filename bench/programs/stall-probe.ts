import { readFileSync } from 'node:fs';
import { Acor } from '../../src/library.ts';

// Supervises one run in this process, and prints for how long at most its event loop served no timer. `busyMs` is the processor time of
// the loop's thread in a pause between two ticks of a timer: other processes on the machine do not change it.

const [cwd, tool] = process.argv.slice(2) as [string, string];
const longest = { wallMs: 0, busyMs: 0 };

const run = new Acor({ cwd, env: process.env }).run(tool);
await run.runId;
let [lastMs, lastBusyMs] = [performance.now(), busyMs()];
const timer = setInterval(() => {
  const [nowMs, nowBusyMs] = [performance.now(), busyMs()];
  longest.wallMs = Math.max(longest.wallMs, nowMs - lastMs);
  longest.busyMs = Math.max(longest.busyMs, nowBusyMs - lastBusyMs);
  [lastMs, lastBusyMs] = [nowMs, nowBusyMs];
}, 1);
const { state, code, events } = await run;
clearInterval(timer);
process.stdout.write(`${JSON.stringify({ state, code, events, ...longest })}\n`);

/** The processor time of this thread so far. */
function busyMs(): number {
  return Number(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}
