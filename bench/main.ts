import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BENCHES } from './cases/index.ts';
import { compare as compareWith } from './compare.ts';
import type { Row } from './support/bench.ts';
import { measureOnce } from './support/measure.ts';
import { endAll } from './support/process.ts';
import { buildProgram, CHECKOUT } from './support/program.ts';
import { type BenchResult, resultOf, writeResults } from './support/results.ts';
import { tableOf } from './support/table.ts';
import { Workplace } from './support/workplace.ts';

// `npm run bench`: measures ACOR against its baselines in the same run, and asserts nothing. `npm run bench -- --help`

const USAGE = `npm run bench -- [name…] [--json FILE] [--long]
npm run bench -- --compare REVISION

  --json FILE         also writes all results to one file
  --once              each figure once: whether the benchmarks work, and nothing about speed
  --plots FOLDER      where the pictures of \`curves\` go (bench/results)
  --long              also the sizes that take minutes (10 million events)
  --compare REVISION  builds this git revision as well, and starts both programs in turn

${BENCHES.map(({ name, summary }) => `  ${name.padEnd(12)} ${summary}`).join('\n')}
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    json: { type: 'string' },
    once: { type: 'boolean', default: false },
    plots: { type: 'string', default: join(CHECKOUT, 'bench/results') },
    long: { type: 'boolean', default: false },
    compare: { type: 'string' },
    help: { type: 'boolean', short: 'h', default: false },
  },
});
const unknown = positionals.filter((name) => !BENCHES.some((bench) => bench.name === name));
if (values.help || unknown.length > 0) {
  if (unknown.length > 0) process.stderr.write(`bench: there is no benchmark ${unknown.join(', ')}\n\n`);
  process.stderr.write(USAGE);
  process.exit(values.help ? 0 : 1);
}

if (values.once) measureOnce();
const workplace = new Workplace();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, async () => {
    await endAll();
    workplace[Symbol.dispose]();
    process.exit(1);
  });
}
try {
  const { compare } = values;
  process.stdout.write(
    compare === undefined ? tableOf(await measure()) : await compareWith(compare, workplace),
  );
} finally {
  await endAll();
  workplace[Symbol.dispose]();
}

async function measure(): Promise<Row[]> {
  process.stderr.write(`bench: ${cpus().length} cores, load ${loadavg()[0]!.toFixed(2)}; building\n`);
  const program = buildProgram(workplace.makeFolder('program'));
  const results: BenchResult[] = [];
  for (const bench of BENCHES) {
    if (positionals.length > 0 && !positionals.includes(bench.name)) continue;
    process.stderr.write(`bench: ${bench.summary}\n`);
    const rows = await bench.run({ program, workplace, long: values.long, plots: values.plots });
    const result = resultOf(bench.name, rows);
    results.push(result);
    writeResults(join(CHECKOUT, 'bench/results', `${bench.name}.json`), result);
  }
  if (values.json !== undefined) writeResults(values.json, results);
  return results.flatMap(({ rows }) => rows);
}
