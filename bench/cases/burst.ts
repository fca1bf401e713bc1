import { join } from 'node:path';
import type { Bench } from '../support/bench.ts';
import { interleavedMedians } from '../support/measure.ts';
import { runProcess } from '../support/process.ts';
import { Project } from '../support/project.ts';

const RUNS = 200;
const FEW = 10;
const MOST_RATIO = 1.3;

/** The time of a run when very many start at once, beside its time when a few do: together they need the same work. */
export const burst: Bench = {
  name: 'burst',
  summary: `${RUNS} runs, ${RUNS} and ${FEW} at once`,
  async run({ program, workplace }) {
    const project = new Project(workplace.makeFolder('burst'));
    project.write('.acor/config.yaml', 'version: 1\n');
    project.addTool('hello_bash', 'hello.sh');
    project.write('items', `${Array.from({ length: RUNS }, (_, index) => index).join('\n')}\n`);
    const perRun = (atOnce: number) => async () => {
      const argv = ['xargs', '-a', 'items', '-P', `${atOnce}`, '-I', '{}'];
      const command = {
        argv: [...argv, program.acor, 'run', '--no-stream', 'hello_bash'],
        cwd: project.dir,
        env: workplace.env,
      };
      const { wallMs } = await runProcess(command, join(project.dir, 'output'));
      project.removeRuns();
      return wallMs / RUNS;
    };
    const figures = await interleavedMedians(
      { many: perRun(RUNS), few: perRun(FEW) },
      { rounds: 3, warmUps: 1 },
    );
    const what = `each of ${RUNS} runs, all at once`;
    const baseline = { what: `${FEW} at once`, value: figures.few };
    const met = figures.many <= MOST_RATIO * figures.few;
    return [
      { what, unit: 'ms', acor: figures.many, baseline, target: { text: `at most ${MOST_RATIO}×`, met } },
    ];
  },
};
