import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Bench, BenchContext, Row } from '../support/bench.ts';
import { interleave, median } from '../support/measure.ts';
import { runProcess } from '../support/process.ts';
import { Project } from '../support/project.ts';

const AT_ONCE = [1, 2, 4];
const STEPS = { short: 50, long: 1000 };

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
    const project = new Project(workplace.makeFolder('workflow'));
    project.write('.acor/config.yaml', 'version: 1\n');
    project.write('tools/noop/tool.yaml', 'version: 1.0.0\ncommand: [/bin/true]\nadapter: plain\n');
    project.write('items', `${Array.from({ length: steps }, (_, index) => index).join('\n')}\n`);
    const rows: Row[] = [];
    for (const atOnce of AT_ONCE) rows.push(...(await rowsAt(atOnce, steps, project, context)));
    return rows;
  },
};

async function rowsAt(
  atOnce: number,
  steps: number,
  project: Project,
  { program, workplace }: BenchContext,
): Promise<Row[]> {
  const items = JSON.stringify(Array.from({ length: steps }, (_, index) => index));
  project.write(
    'workflows/noops.yaml',
    `max_concurrency: ${atOnce}\nsteps: [{ name: noop, tool: noop, args: [], foreach: ${items} }]\n`,
  );
  const rate = (argv: string[]) => async () => {
    const command = { argv, cwd: project.dir, env: workplace.env };
    const { wallMs } = await runProcess(command, join(project.dir, 'output'));
    project.removeRuns();
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
  return Object.entries(theirs).map(([name, rates]) => ({
    what: `${steps} steps, ${atOnce} at once`,
    unit: 'steps/s',
    acor: median(own!),
    baseline: { what: name, value: median(rates) },
    target: null,
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
