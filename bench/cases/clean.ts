import { cpSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cloneRuns } from '../../test/support/cloned-runs.ts';
import type { Bench, BenchContext } from '../support/bench.ts';
import { interleavedMedians } from '../support/measure.ts';
import { runProcess } from '../support/process.ts';
import { Project } from '../support/project.ts';

const RUNS = { short: 1_000, long: 10_000 };
const ROUNDS = 3;
const MOST = 1.5;

/** Removing the runs of a store, whole process, beside `rm -rf` of the same folders: the ledger, the counts and the claims come on top. */
export const clean: Bench = {
  name: 'clean',
  summary: 'removing runs',
  async run(context) {
    const runs = context.long ? RUNS.long : RUNS.short;
    const { program, workplace } = context;
    const project = await projectWith(runs, 'clean', context);
    const saved = workplace.makeFolder('clean-saved');
    cpSync(project.dir, saved, { recursive: true });
    const folder = join(project.dir, '.runs');
    const output = join(saved, 'output');
    const remove = async (argv: (names: string[]) => string[]) => {
      rmSync(folder, { recursive: true, force: true });
      cpSync(join(saved, '.runs'), folder, { recursive: true });
      const names = readdirSync(folder).filter((name) => name.startsWith('r-'));
      await runProcess({ argv: ['/bin/sync'], cwd: project.dir, env: workplace.env }, output);
      return (await runProcess({ argv: argv(names), cwd: project.dir, env: workplace.env }, output)).wallMs;
    };
    const figures = await interleavedMedians(
      {
        clean: () => remove(() => [program.acor, 'clean', '--keep', '0']),
        rm: () => remove((names) => ['/bin/rm', '-rf', ...names.map((name) => join(folder, name))]),
      },
      { rounds: ROUNDS, warmUps: 0 },
    );
    return [
      {
        what: `acor clean of ${runs} runs`,
        unit: 'ms',
        acor: figures.clean,
        baseline: { what: '`rm -rf` of the same folders', value: figures.rm },
        target: { text: `at most ${MOST}×`, met: figures.clean <= MOST * figures.rm },
      },
    ];
  },
};

async function projectWith(
  runs: number,
  name: string,
  { program, workplace }: BenchContext,
): Promise<Project> {
  const project = new Project(workplace.makeFolder(name));
  project.write('.acor/config.yaml', 'version: 1\n');
  project.addTool('hello', 'hello.sh', 'version: 1.0.0\n');
  await runProcess(
    { argv: [program.acor, 'run', 'hello'], cwd: project.dir, env: workplace.env },
    join(project.dir, 'output'),
  );
  await cloneRuns(join(project.dir, '.runs'), runs - 1, { isWhole: true });
  return project;
}
