import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Bench, BenchContext, Row } from '../support/bench.ts';
import { interleave, median } from '../support/measure.ts';
import { runProcess } from '../support/process.ts';
import { Project } from '../support/project.ts';

const AT_ONCE = [1, 2, 4];
const STEPS = { short: 50, long: 1000 };
/** For a rate: of 50 steps a third of the time is the start of the engine and its supervisors. */
const STEPS_OF_RATE = 500;
/** Steps a second, at the most at once. */
const TARGETS = { sandboxed: 60, open: 200 };

/**
 * Steps that do nothing: what it costs that each of them is a run, with its own folder, sandbox, log and seal, and that the
 * workflow can be resumed after a kill at any moment.
 */
export const workflow: Bench = {
  name: 'workflow',
  summary: 'steps of a workflow that do nothing, at 1, 2 and 4 at once',
  async run(context) {
    const { workplace, long } = context;
    const steps = long ? STEPS.long : STEPS.short;
    const sandboxed = projectIn(workplace.makeFolder('workflow'));
    sandboxed.write('.acor/config.yaml', 'version: 1\n');
    const open = projectIn(workplace.makeFolder('open-workflow'));
    open.turnSandboxOff(workplace.env);
    const rows: Row[] = [];
    const most = AT_ONCE.at(-1)!;
    for (const atOnce of AT_ONCE) {
      const target = atOnce === most ? TARGETS.sandboxed : undefined;
      rows.push(...(await rowsAt(atOnce, steps, sandboxed, context, '', target)));
    }
    const how = ', without a sandbox';
    if (!long) rows.push(...(await rowsAt(most, steps, open, context, how, undefined)));
    const many = Math.max(steps, STEPS_OF_RATE);
    rows.push(...(await rowsAt(most, many, open, context, how, TARGETS.open)));
    return rows;
  },
};

function projectIn(folder: string): Project {
  const project = new Project(folder);
  project.write('tools/noop/tool.yaml', 'version: 1.0.0\ncommand: [/bin/true]\nadapter: plain\n');
  return project;
}

async function rowsAt(
  atOnce: number,
  steps: number,
  project: Project,
  { program, workplace }: BenchContext,
  how: string,
  target: number | undefined,
): Promise<Row[]> {
  project.write('items', `${Array.from({ length: steps }, (_, index) => index).join('\n')}\n`);
  const items = JSON.stringify(Array.from({ length: steps }, (_, index) => index));
  project.write(
    'workflows/noops.yaml',
    `max_concurrency: ${atOnce}\nsteps: [{ name: noop, tool: noop, args: [], foreach: ${items} }]\n`,
  );
  const rate = (argv: string[]) => async () => {
    const command = { argv, cwd: project.dir, env: workplace.env };
    const { wallMs } = await runProcess(command, join(project.dir, 'output'));
    return (steps / wallMs) * 1000;
  };
  const others: Record<string, string[]> = {
    'xargs -P, bare': ['xargs', '-a', 'items', '-P', String(atOnce), '-n', '1', '/bin/true'],
    ...(isThere('parallel') && {
      'GNU parallel, bare': ['parallel', '-a', 'items', '-j', String(atOnce), '/bin/true'],
    }),
    'xargs -P of acor run': [
      ...['xargs', '-a', 'items', '-P', String(atOnce), '-I', '{}'],
      ...[program.acor, 'run', '--no-stream', 'noop'],
    ],
  };
  const flow = [program.acor, 'workflow', 'run', 'noops', '--no-stream'];
  const samples = await interleave(
    {
      flow: rate(flow),
      ...Object.fromEntries(Object.entries(others).map(([name, argv]) => [name, rate(argv)])),
    },
    { rounds: 1, warmUps: 0 },
  );
  const { flow: own, ...theirs } = samples as Record<string, number[]>;
  const acor = median(own!);
  return Object.entries(theirs).map(([name, rates], index) => ({
    what: `${steps} steps, ${atOnce} at once${how}`,
    unit: 'steps/s',
    acor,
    baseline: { what: name, value: median(rates) },
    target:
      target !== undefined && index === 0 ? { text: `at least ${target}/s`, met: acor >= target } : null,
  }));
}

function isThere(program: string): boolean {
  try {
    execFileSync(program, ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}
