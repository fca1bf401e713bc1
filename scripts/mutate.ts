import { parseArgs } from 'node:util';
import { report, score } from './mutate/report.ts';
import { runFaults } from './mutate/run-faults.ts';

// `npm run mutate`: puts one-line faults into a copy of the project, one at a time, and reports those that no test near them notices.

const USAGE = `npm run mutate -- <folder> [--seed 1] [--count 30] [--only 3,17] [--near] [--jobs 1] [--resume FILE] [--least 90]

  <folder>   the folder, or file, whose sources get the faults
  --seed N   which faults: the same seed and the same sources give the same faults
  --count N  how many faults that compile
  --only     only the faults with these numbers of the sample
  --near     only the tests that do not start the compiled program: quick, and a lower score
  --jobs N   how many faults are tried at once, each in copies of its own
  --resume FILE  keeps the verdicts in this file, and takes those that are there; what survived is tried again
  --least N  exit code 1 if the tests catch less than N percent
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '30' },
    only: { type: 'string' },
    near: { type: 'boolean', default: false },
    jobs: { type: 'string', default: '1' },
    resume: { type: 'string' },
    least: { type: 'string', default: '90' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
const [folder] = positionals;
const only = values.only?.split(',').map(Number);
const numbers = [values.seed, values.count, values.jobs, values.least].map(Number);
const isValid = [...numbers, ...(only ?? [])].every((number) => Number.isSafeInteger(number) && number >= 0);
if (values.help || folder === undefined || positionals.length > 1 || !isValid) {
  process.stderr.write(USAGE);
  process.exit(values.help ? 0 : 1);
}
const [seed, count, jobs, least] = numbers as [number, number, number, number];

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => stop.abort());
const { tried, unusable } = await runFaults({
  project: process.cwd(),
  folder,
  seed,
  count,
  near: values.near,
  jobs: Math.max(1, jobs),
  ...(only !== undefined && { only }),
  ...(values.resume !== undefined && { resume: values.resume }),
  signal: stop.signal,
  onFault: (each) => process.stderr.write(`${report([each])}`),
});
process.stdout.write(
  `\nmutate ${folder}, seed ${seed}\n${report(tried.filter((each) => each.verdict.word === 'survived'))}`,
);
for (const test of unusable) process.stdout.write(`not used, because it fails without a fault: ${test}\n`);
const { caught, survived, percent } = score(tried);
process.stdout.write(`${caught} caught, ${survived} survived: ${percent} %\n`);
process.exitCode = percent >= least ? 0 : 1;
