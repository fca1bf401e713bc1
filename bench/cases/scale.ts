import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { cloneRuns } from '../../test/support/cloned-runs.ts';
import type { Bench, BenchContext, Row } from '../support/bench.ts';
import { interleavedMedians } from '../support/measure.ts';
import { type Command, runProcess } from '../support/process.ts';
import { BARE_RUN_ID } from '../support/producers.ts';
import { progressLine } from '../support/progress-line.ts';
import { Project } from '../support/project.ts';

const RUNS = { short: [10, 1_000, 10_000], long: [10, 1_000, 10_000, 100_000] };
const EVENTS = { short: [10, 10_000, 100_000], long: [10, 10_000, 100_000, 1_000_000] };
/** Two packs of 500 runs. */
const PACKED_RUNS = 1_000;
const ROUNDS = 9;
const WARM_UPS = 2;
/** One of each filter; it matches all runs, half of them, or none. */
const FILTERS: Record<string, string[]> = {
  '--state …': ['--state', 'failed'],
  '--tool …': ['--tool', 'hello'],
  '--kind …': ['--kind', 'tool'],
  '--caller …': ['--caller', 'no-agent'],
  '--parent …': ['--parent', 'r-0123456789abcdef'],
  '--tool … --state …': ['--tool', 'hello', '--state', 'failed'],
  '--created-after …': ['--created-after', '2020-01-01'],
  '--created-before …': ['--created-before', '2020-01-01'],
  '--text …': ['--text', 'no such text'],
  '--text … --created-after …': ['--text', 'hello', '--created-after', '2020-01-01'],
};
/** A call of a command costs the same in a store of any size, within what a busy machine adds. */
const FLAT = 1.5;
const TALKER = 'talker';
const WITHOUT_LIMIT = 'version: 1\nenvironment:\n  max_output_size: 100000000000\n';

/** One command, in a project of some size. */
interface Place {
  project: Project;
  run: string;
}

/**
 * What commands cost in stores of more and more runs, and for a run of more and more events. The baseline of each row is the same command
 * at the smallest size, so that the ratio is the slope.
 */
export const scale: Bench = {
  name: 'scale',
  summary: 'commands in a store of many runs, and for a run of many events',
  async run(context) {
    return [...(await byRuns(context)), ...(await byPacking(context)), ...(await byEvents(context))];
  },
};

async function byRuns(context: BenchContext): Promise<Row[]> {
  const sizes = context.long ? RUNS.long : RUNS.short;
  const places = new Map<number, Place>();
  for (const size of sizes) places.set(size, await storeOf(size, context));
  const commands: Record<string, (place: Place) => string[]> = {
    'acor run': () => ['run', 'hello', '--no-stream'],
    'acor show': ({ run }) => ['show', run],
    'acor verify RUN': ({ run }) => ['verify', run],
    'acor logs RUN --since 2': ({ run }) => ['logs', run, '--since', '2'],
    'acor runs --limit 10': () => ['runs', '--limit', '10'],
    ...Object.fromEntries(
      Object.entries(FILTERS).map(([name, args]) => [
        `acor runs ${name} --limit 10`,
        () => ['runs', ...args, '--limit', '10'],
      ]),
    ),
    'acor decisions RUN': ({ run }) => ['decisions', run],
    'acor decisions': () => ['decisions'],
    'acor decisions --open': () => ['decisions', '--open'],
  };
  const rows: Row[] = [];
  for (const [name, argsOf] of Object.entries(commands)) {
    const contestants = [...places].map(([size, place]) => [
      String(size),
      async () => timeOf(commandOf(argsOf(place), place.project, context)),
    ]);
    rows.push(...(await slopes(name, 'runs', Object.fromEntries(contestants))));
  }
  return rows;
}

/** A run in a pack against the same run in a folder, and the inodes of the store. */
async function byPacking(context: BenchContext): Promise<Row[]> {
  const [inFolder, inPack] = [
    await storeOf(PACKED_RUNS, context, 'folders'),
    await storeOf(PACKED_RUNS, context, 'packed'),
  ];
  await timeOf(commandOf(['clean', '--pack', '--keep', '0'], inPack.project, context));
  const rows: Row[] = [];
  const commands: Record<string, (place: Place) => string[]> = {
    'acor show RUN': ({ run }) => ['show', run],
    'acor logs RUN': ({ run }) => ['logs', run],
    'acor verify RUN': ({ run }) => ['verify', run],
    'acor runs --limit 10': () => ['runs', '--limit', '10'],
  };
  for (const [name, argsOf] of Object.entries(commands)) {
    const timed = (place: Place) => async () => timeOf(commandOf(argsOf(place), place.project, context));
    const contestants = { folder: timed(inFolder), packed: timed(inPack) };
    const { folder = 0, packed = 0 } = await interleavedMedians(contestants, {
      rounds: ROUNDS,
      warmUps: WARM_UPS,
    });
    rows.push({
      what: `${name}, packed`,
      unit: 'ms',
      acor: packed,
      baseline: { what: 'in a folder', value: folder },
      target: { text: 'the same', met: packed <= folder * FLAT },
    });
  }
  const [folders, packs] = [inFolder, inPack].map(({ project }) => inodesBelow(join(project.dir, '.runs')));
  rows.push({
    what: `inodes of ${PACKED_RUNS} packed runs`,
    unit: 'inodes',
    acor: packs!,
    baseline: { what: 'in folders', value: folders! },
    target: { text: 'a tenth', met: packs! <= folders! / 10 },
  });
  return rows;
}

function inodesBelow(folder: string): number {
  return readdirSync(folder, { recursive: true }).length;
}

/** The talker of each size waits for an answer all the time; the command is a call for one that has not ended. */
async function byEvents(context: BenchContext): Promise<Row[]> {
  const sizes = context.long ? EVENTS.long : EVENTS.short;
  const places = new Map<number, Place>();
  for (const size of sizes) places.set(size, await talkerOf(size, context));
  try {
    const rows: Row[] = [];
    const commands: Record<string, (place: Place, events: number) => string[]> = {
      'acor show RUN': ({ run }) => ['show', run],
      'acor decisions RUN': ({ run }) => ['decisions', run],
      'acor logs RUN --since END': ({ run }, events) => ['logs', run, '--since', String(events - 5)],
      'acor runs': () => ['runs'],
    };
    for (const [name, argsOf] of Object.entries(commands)) {
      const contestants = [...places].map(([size, place]) => [
        String(size),
        async () => timeOf(commandOf(argsOf(place, size), place.project, context)),
      ]);
      rows.push(...(await slopes(name, 'events', Object.fromEntries(contestants))));
    }
    const answers = [...places].map(([size, place]) => [String(size), () => timeOfAnswer(place, context)]);
    rows.push(...(await slopes('acor answer', 'events', Object.fromEntries(answers))));
    const cancels = [...places].map(([size, place]) => [
      String(size),
      async () => timeOf(commandOf(['cancel', place.run], place.project, context)),
    ]);
    rows.push(
      ...(await slopes('acor cancel, to the end', 'events', Object.fromEntries(cancels), {
        rounds: 1,
        warmUps: 0,
      })),
    );
    return rows;
  } finally {
    for (const place of places.values())
      await timeOf(commandOf(['cancel', place.run], place.project, context)).catch(() => {});
  }
}

async function slopes(
  what: string,
  unit: string,
  contestants: Record<string, () => Promise<number>>,
  rounds = { rounds: ROUNDS, warmUps: WARM_UPS },
): Promise<Row[]> {
  const [least, ...more] = Object.entries(await interleavedMedians(contestants, rounds));
  const baseline = { what: `${least![0]} ${unit}`, value: least![1] };
  return more.map(([size, value]) => ({
    what: `${what}, ${Number(size).toLocaleString('en-US').replaceAll(',', ' ')} ${unit}`,
    unit: 'ms',
    acor: value,
    baseline,
    target: { text: 'the same', met: value <= baseline.value * FLAT },
  }));
}

async function storeOf(runs: number, context: BenchContext, name = `runs-${runs}`): Promise<Place> {
  const project = new Project(context.workplace.makeFolder(name));
  project.write('.acor/config.yaml', 'version: 1\n');
  project.addTool('hello', 'hello.sh', 'version: 1.0.0\n');
  project.write('tools/fails/tool.yaml', 'version: 1.0.0\ncommand: [/bin/false]\nadapter: plain\n');
  await timeOf(commandOf(['run', 'hello'], project, context));
  await timeOf(commandOf(['run', 'fails'], project, context)).catch(() => {});
  const runsDir = join(project.dir, '.runs');
  await cloneRuns(runsDir, runs - 2);
  const ids = readdirSync(runsDir)
    .filter((name) => name.startsWith('r-'))
    .sort();
  // The index is made by the first reader; what it costs then is not what a command costs.
  await timeOf(commandOf(['runs', '--limit', '1'], project, context));
  return { project, run: ids[ids.length >> 1]! };
}

async function talkerOf(events: number, context: BenchContext): Promise<Place> {
  const project = new Project(context.workplace.makeFolder(`events-${events}`));
  project.write('.acor/config.yaml', WITHOUT_LIMIT);
  project.addTool(TALKER, 'talker.sh', 'version: 1.0.0\nactions: [go]\ntimeout_s: 36000\n');
  const messages = Array.from({ length: 10 }, (_, index) => progressLine(BARE_RUN_ID, index)).join('');
  project.write(`tools/${TALKER}/messages.jsonl`, messages.replaceAll(BARE_RUN_ID, '@RUN_ID@'));
  const started = await answerOf(['run', '--detach', TALKER, String(events)], project, context);
  const place = { project, run: String(started.run_id) };
  await openQuestion(place, context);
  return place;
}

async function timeOfAnswer(place: Place, context: BenchContext): Promise<number> {
  const question = await openQuestion(place, context);
  return timeOf(commandOf(['answer', place.run, question, '--choice', 'yes'], place.project, context));
}

/** The id of the question that the talker waits for: it asks the next one a moment after an answer. */
async function openQuestion({ project, run }: Place, context: BenchContext): Promise<string> {
  for (;;) {
    const { decisions } = await answerOf(['decisions', run, '--open'], project, context);
    const [open] = decisions as { action_id: string }[];
    if (open !== undefined) return open.action_id;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function answerOf(
  args: string[],
  project: Project,
  context: BenchContext,
): Promise<Record<string, unknown>> {
  await timeOf(commandOf(args, project, context));
  return JSON.parse(readFileSync(outputOf(project), 'utf8')).data;
}

async function timeOf(command: Command): Promise<number> {
  return (await runProcess(command, join(command.cwd, 'output'))).wallMs;
}

function commandOf(args: string[], project: Project, { program, workplace }: BenchContext): Command {
  return { argv: [program.acor, ...args], cwd: project.dir, env: workplace.env };
}

function outputOf(project: Project): string {
  return join(project.dir, 'output');
}
