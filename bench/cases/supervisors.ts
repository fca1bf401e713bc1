import { closeSync, openSync, readFileSync } from 'node:fs';
import { childrenOf } from '../../src/util/process-table.ts';
import type { Bench } from '../support/bench.ts';
import { type Command, finish, start } from '../support/process.ts';
import { Project } from '../support/project.ts';

const STEPS = { short: 500, long: 2500 };
const AT_ONCE = 4;
const LOOK_MS = 250;
const MOST_BYTES = 35 * 1024 ** 2;

/** The memory that a supervisor of a workflow's steps has for itself: what all processes of the program share is left out. */
export const supervisors: Bench = {
  name: 'supervisors',
  summary: 'memory of the supervisors of a workflow',
  async run({ program, workplace, long }) {
    const steps = long ? STEPS.long : STEPS.short;
    const project = new Project(workplace.makeFolder('supervisors'));
    project.write('.acor/config.yaml', 'version: 1\n');
    project.write('tools/noop/tool.yaml', 'version: 1.0.0\ncommand: [/bin/true]\nadapter: plain\n');
    const items = JSON.stringify(Array.from({ length: steps }, (_, index) => index));
    project.write(
      'workflows/noops.yaml',
      `max_concurrency: ${AT_ONCE}\nsteps: [{ name: noop, tool: noop, args: [], max_items: ${steps}, foreach: ${items} }]\n`,
    );
    const argv = [program.acor, 'workflow', 'run', 'noops', '--no-stream'];
    const bytes = await largest({ argv, cwd: project.dir, env: workplace.env });
    project.removeRuns();
    return [
      {
        what: `memory of a supervisor's own in a workflow of ${steps} steps, at most`,
        unit: 'bytes',
        acor: bytes,
        baseline: null,
        target: { text: 'at most 35 MiB', met: bytes <= MOST_BYTES },
      },
    ];
  },
};

/** What the largest child of the workflow's process has at any look. */
async function largest(command: Command): Promise<number> {
  const fd = openSync('/dev/null', 'w');
  const child = start(command, { stdout: fd });
  closeSync(fd);
  let most = 0;
  const timer = setInterval(() => {
    for (const pid of childrenOf(child.pid)) most = Math.max(most, privateBytes(pid));
  }, LOOK_MS);
  await finish(child, command);
  clearInterval(timer);
  if (most === 0) throw new Error('Internal: no supervisor was seen');
  return most;
}

function privateBytes(pid: number): number {
  const sizes = textOf(`/proc/${pid}/smaps_rollup`).matchAll(/^Private_\w+:\s+(\d+) kB$/gm);
  return [...sizes].reduce((sum, [, kib]) => sum + Number(kib) * 1024, 0);
}

/** Empty when the process has ended. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
