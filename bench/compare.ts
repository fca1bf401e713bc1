import { join } from 'node:path';
import { interleave, median } from './support/measure.ts';
import { type Command, type Ended, runProcess } from './support/process.ts';
import { addProducers, FAST, GAPPY, MESSAGES_IN_FILE } from './support/producers.ts';
import { buildProgram, type Program } from './support/program.ts';
import { Project } from './support/project.ts';
import { checkOut } from './support/revision.ts';
import { columns } from './support/table.ts';
import type { Workplace } from './support/workplace.ts';

const HEAD = ['what', 'of', 'now', 'before', 'bound', 'now / before', 'now, 10–90 %', 'before, 10–90 %'];
const EVENTS = 300_000;

/** What is started with both programs in turn, and what cannot be faster than the machine makes it. */
interface Subject {
  what: string;
  rounds: number;
  words: readonly string[];
  bound: { what: string; argv: readonly string[] };
}

/**
 * Builds a git revision and this checkout, and starts both programs in turn with the bound of each row (A B C A B C …). Prints the medians of
 * wall and processor time, and between which values 80 of 100 lie: a smaller difference says nothing.
 */
export async function compare(revision: string, workplace: Workplace): Promise<string> {
  const { checkout, commit } = checkOut(revision, workplace.makeFolder('before'));
  const before = buildProgram(workplace.makeFolder('before-program'), checkout);
  const now = buildProgram(workplace.makeFolder('now-program'));
  const project = new Project(workplace.makeFolder('compare'));
  const tool = project.addTool('hello', 'hello.sh', 'name: hello\nversion: 1.0.0\n');
  const { fast, gappy } = addProducers(project);
  const rows: string[][] = [];
  for (const subject of subjectsOf(now, { tool, fast, gappy })) {
    process.stderr.write(`bench: ${subject.what}\n`);
    rows.push(...(await rowsOf(subject, { now, before }, project, workplace)));
  }
  return columns([HEAD.map((cell) => cell.replace('before', commit)), ...rows]);
}

function subjectsOf({ empty }: Program, tools: { tool: string; fast: string; gappy: string }): Subject[] {
  const runtime = { what: 'runtime: an empty program', argv: [empty] };
  const events = (name: string, entry: string, what: string): Subject => {
    const times = String(EVENTS / MESSAGES_IN_FILE);
    return {
      what: `${EVENTS / 1000} k events, ${what}`,
      rounds: 7,
      words: ['run', name, times],
      bound: { what: 'kernel: the tool > file', argv: ['/bin/bash', entry, times] },
    };
  };
  return [
    { what: 'acor version', rounds: 25, words: ['version'], bound: runtime },
    { what: 'acor list', rounds: 25, words: ['list'], bound: runtime },
    { what: 'acor run --dry-run', rounds: 25, words: ['run', 'hello', '--dry-run'], bound: runtime },
    {
      what: 'acor run',
      rounds: 25,
      words: ['run', 'hello'],
      bound: { what: 'kernel: the bare tool', argv: ['/bin/bash', tools.tool] },
    },
    events(FAST, tools.fast, 'complete'),
    events(GAPPY, tools.gappy, 'without v, ts and run_id'),
  ];
}

async function rowsOf(
  { what, rounds, words, bound }: Subject,
  { now, before }: { now: Program; before: Program },
  project: Project,
  workplace: Workplace,
): Promise<string[][]> {
  const output = join(project.dir, 'output');
  const start = (argv: readonly string[]) => async (): Promise<Ended> => {
    const command: Command = {
      argv,
      cwd: project.dir,
      // The bare tools need what ACOR would give them.
      env: { ...workplace.env, RUN_ID: 'r-0123456789abcdef' },
    };
    const ended = await runProcess(command, output);
    project.removeRuns();
    return ended;
  };
  const samples = await interleave(
    { now: start([now.acor, ...words]), before: start([before.acor, ...words]), bound: start(bound.argv) },
    { rounds, warmUps: 2 },
  );
  return (['cpuMs', 'wallMs'] as const).map((key) => {
    const [mine, theirs, least] = [samples.now, samples.before, samples.bound].map((each) =>
      each.map((one) => one[key]),
    );
    return [
      what,
      key === 'cpuMs' ? 'processor' : 'wall',
      ms(median(mine!)),
      ms(median(theirs!)),
      `${ms(median(least!))} (${bound.what})`,
      `${(median(mine!) / median(theirs!)).toFixed(2)}×`,
      spread(mine!),
      spread(theirs!),
    ];
  });
}

function spread(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (part: number) => sorted[Math.round(part * (sorted.length - 1))]!;
  return `${ms(at(0.1))} – ${ms(at(0.9))}`;
}

function ms(value: number): string {
  return `${value.toFixed(value < 100 ? 1 : 0)} ms`;
}
