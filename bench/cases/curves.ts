import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { cloneRuns } from '../../test/support/cloned-runs.ts';
import type { Bench, BenchContext, Row } from '../support/bench.ts';
import { type Curve, type Plot, slopeOf, writePlot } from '../support/curve.ts';
import { interleave, median } from '../support/measure.ts';
import { type Command, type Ended, finish, runProcess, start } from '../support/process.ts';
import { BARE_RUN_ID } from '../support/producers.ts';
import { progressLine } from '../support/progress-line.ts';
import { Project, programPath } from '../support/project.ts';

const RUNS = { short: [10, 100, 1_000, 10_000], long: [10, 100, 1_000, 10_000, 100_000] };
const EVENTS = { short: [10, 1_000, 100_000, 1_000_000], long: [10, 1_000, 100_000, 1_000_000, 10_000_000] };
const TOOLS = { short: [10, 100, 1_000, 10_000], long: [10, 100, 1_000, 10_000] };
const STEPS = { short: [10, 100, 400], long: [10, 100, 1_000, 10_000] };
const FOLLOWERS = { short: [1, 4, 16], long: [1, 10, 100, 1_000] };
/** More followers share processes, as those of a server do. */
const FOLLOWING_PROCESSES = 16;
const FOLLOWED_EVENTS = 300_000;
const ROUNDS = 3;
/** Above this a cost is not the same at every size, whatever the machine did meanwhile. */
const FLAT = 0.15;
const LINEAR = 1.15;
const MESSENGER = 'messenger';
const PROCESSOR = 'processor time, ms';
const PROCESS_START_S = 0.4;
const FOLLOWER_START_S = 0.002;
const POLL_MS = 5;

/** A curve, and how it may grow. */
interface Grown {
  curve: Curve;
  most: number;
}

/**
 * The cost rule of the architecture as curves: what a command costs as its store, its project, a run's log, a workflow and a run's followers
 * grow. Processor time where one process does the work, wall time for workflows. Each row is the exponent of the growth.
 */
export const curves: Bench = {
  name: 'curves',
  summary: 'how costs grow, as pictures',
  async run(context) {
    const rows: Row[] = [];
    for (const plot of [byRuns, byTools, byEvents, bySteps, byFollowers]) {
      const { grown, ...drawn } = await plot(context);
      writePlot(context.plots, { ...drawn, curves: grown.map(({ curve }) => curve) });
      for (const { curve, most } of grown) rows.push(rowOf(curve, most, drawn.sizes));
    }
    return rows;
  },
};

type Measured = Omit<Plot, 'curves'> & { grown: Grown[] };

function rowOf(curve: Curve, most: number, sizes: string): Row {
  const slope = slopeOf(curve);
  const [first, last] = [curve.points[0]!, curve.points.at(-1)!];
  return {
    what: `${curve.name}: ${sizes} ${first[0]} … ${last[0]}`,
    unit: 'exponent',
    acor: slope,
    baseline: null,
    target: {
      text: most === FLAT ? `the same: at most ${FLAT}` : `linear: at most ${LINEAR}`,
      met: slope <= most,
    },
  };
}

async function byRuns(context: BenchContext): Promise<Measured> {
  const places = new Map<number, { project: Project; run: string }>();
  for (const size of sizesOf(RUNS, context)) places.set(size, await storeOf(size, context));
  const commands: Record<string, (run: string) => string[]> = {
    'acor run': () => ['run', 'hello', '--no-stream'],
    'acor show RUN': (run) => ['show', run],
    'acor logs RUN': (run) => ['logs', run],
    'acor verify RUN': (run) => ['verify', run],
    'acor runs --limit 10': () => ['runs', '--limit', '10'],
  };
  const grown: Grown[] = [];
  for (const [name, wordsFor] of Object.entries(commands)) {
    const points = await measure([...places], ([, { project, run }]) =>
      processorMs(wordsFor(run), project, context),
    );
    grown.push({ curve: { name, points }, most: FLAT });
  }
  return { file: 'runs', title: 'Runs in the store', sizes: 'runs', costs: PROCESSOR, grown };
}

async function byTools(context: BenchContext): Promise<Measured> {
  const places = sizesOf(TOOLS, context).map((size) => [size, toolsOf(size, context)] as const);
  for (const [, project] of places) await processorMs(['list', '--limit', '1'], project, context);
  const commands = {
    'acor run': ['run', 'tool_0', '--no-stream'],
    'acor list --limit 10': ['list', '--limit', '10'],
  };
  const grown: Grown[] = [];
  for (const [name, words] of Object.entries(commands)) {
    const points = await measure(places, ([, project]) => processorMs(words, project, context));
    grown.push({ curve: { name: `${name}, warm`, points }, most: LINEAR });
  }
  return { file: 'tools', title: 'Tools in the project', sizes: 'tools', costs: PROCESSOR, grown };
}

async function byEvents(context: BenchContext): Promise<Measured> {
  const project = messengerIn('events', context);
  const runs: [number, string][] = [];
  const places = sizesOf(EVENTS, context);
  const run = await measure(
    places.map((size) => [size, size] as const),
    async ([size]) => {
      const { cpuMs } = await command(['run', MESSENGER, String(size)], project, context);
      if (!runs.some(([known]) => known === size)) runs.push([size, await newestRun(project)]);
      return cpuMs;
    },
  );
  const grown: Grown[] = [{ curve: { name: 'acor run', points: run }, most: LINEAR }];
  const commands: Record<string, (run: string, events: number) => string[]> = {
    'acor show RUN': (run) => ['show', run],
    'acor logs RUN --since END': (run, events) => ['logs', run, '--since', String(events)],
  };
  for (const [name, wordsFor] of Object.entries(commands)) {
    const points = await measure(runs, ([size, run]) => processorMs(wordsFor(run, size), project, context));
    grown.push({ curve: { name, points }, most: FLAT });
  }
  project.removeRuns();
  return { file: 'events', title: 'Events of a run', sizes: 'events', costs: PROCESSOR, grown };
}

async function bySteps(context: BenchContext): Promise<Measured> {
  const project = new Project(context.workplace.makeFolder('steps'));
  project.write('.acor/config.yaml', 'version: 1\n');
  project.write('tools/noop/tool.yaml', 'version: 1.0.0\ncommand: [/bin/true]\nadapter: plain\n');
  const points: [number, number][] = [];
  for (const steps of sizesOf(STEPS, context)) {
    const items = JSON.stringify(Array.from({ length: steps }, (_, index) => index));
    const step = `{ name: noop, tool: noop, args: [], max_items: ${steps}, foreach: ${items} }`;
    project.write('workflows/noops.yaml', `max_concurrency: 4\nsteps: [${step}]\n`);
    const { wallMs } = await command(['workflow', 'run', 'noops', '--no-stream'], project, context);
    points.push([steps, wallMs]);
    project.removeRuns();
  }
  const grown = [{ curve: { name: 'acor workflow run, 4 at once', points }, most: LINEAR }];
  return { file: 'steps', title: 'Steps of a workflow', sizes: 'steps', costs: 'wall time, ms', grown };
}

/** What a supervisor takes for the same events while more and more programs follow its run. */
async function byFollowers(context: BenchContext): Promise<Measured> {
  const project = messengerIn('followers', context);
  const places = sizesOf(FOLLOWERS, context).map((size) => [size, size] as const);
  const points = await measure(places, async ([followers]) => {
    const processes = Math.min(followers, FOLLOWING_PROCESSES);
    // They all follow before the first event.
    const waitS = 1 + processes * PROCESS_START_S + followers * FOLLOWER_START_S;
    const run = command(['run', MESSENGER, String(FOLLOWED_EVENTS), String(waitS)], project, context);
    const id = await newestRun(project);
    const followed = Array.from({ length: processes }, (_, index) => {
      const count = Math.ceil((followers - index) / processes);
      const argv = [
        process.execPath,
        programPath('followers.ts'),
        join(project.dir, '.runs'),
        id,
        String(count),
      ];
      return { argv, child: start({ argv, cwd: project.dir, env: context.workplace.env }) };
    });
    const { cpuMs } = await run;
    await Promise.all(followed.map(({ argv, child }) => finish(child, { argv })));
    project.removeRuns();
    return cpuMs;
  });
  const grown = [{ curve: { name: `acor run, ${FOLLOWED_EVENTS / 1000} k events`, points }, most: FLAT }];
  return { file: 'followers', title: 'Followers of a run', sizes: 'followers', costs: PROCESSOR, grown };
}

/** The median cost at each size; the sizes are measured in turn. */
async function measure<T extends readonly [size: number, place: unknown]>(
  places: readonly T[],
  costAt: (place: T) => Promise<number>,
): Promise<[number, number][]> {
  const contestants = places.map((place) => [String(place[0]), () => costAt(place)]);
  const samples = await interleave(Object.fromEntries(contestants) as Record<string, () => Promise<number>>, {
    rounds: ROUNDS,
    warmUps: 1,
  });
  return places.map(([size]) => [size, median(samples[String(size)]!)]);
}

async function storeOf(runs: number, context: BenchContext): Promise<{ project: Project; run: string }> {
  const project = new Project(context.workplace.makeFolder(`store-${runs}`));
  project.write('.acor/config.yaml', 'version: 1\n');
  project.addTool('hello', 'hello.sh', 'version: 1.0.0\n');
  await command(['run', 'hello'], project, context);
  await cloneRuns(join(project.dir, '.runs'), runs - 1);
  // The index is made by the first reader.
  await command(['runs', '--limit', '1'], project, context);
  return { project, run: await newestRun(project) };
}

function toolsOf(tools: number, context: BenchContext): Project {
  const project = new Project(context.workplace.makeFolder(`tools-${tools}`));
  project.write('.acor/config.yaml', 'version: 1\n');
  for (let index = 0; index < tools; index++)
    project.addTool(`tool_${index}`, 'hello.sh', 'version: 1.0.0\n');
  return project;
}

function messengerIn(name: string, context: BenchContext): Project {
  const project = new Project(context.workplace.makeFolder(name));
  project.write('.acor/config.yaml', 'version: 1\nenvironment:\n  max_output_size: 100000000000\n');
  project.addTool(MESSENGER, 'many-messages.sh', 'version: 1.0.0\n');
  const messages = Array.from({ length: 10 }, (_, index) => progressLine(BARE_RUN_ID, index)).join('');
  project.write(`tools/${MESSENGER}/messages.jsonl`, messages.replaceAll(BARE_RUN_ID, '@RUN_ID@'));
  return project;
}

/** The newest run of a project, as soon as there is one. */
async function newestRun({ dir }: Project): Promise<string> {
  for (;;) {
    const folder = join(dir, '.runs');
    const names = existsSync(folder) ? readdirSync(folder) : [];
    const newest = names
      .filter((name) => name.startsWith('r-'))
      .toSorted()
      .at(-1);
    if (newest !== undefined) return newest;
    await Bun.sleep(POLL_MS);
  }
}

async function processorMs(words: string[], project: Project, context: BenchContext): Promise<number> {
  return (await command(words, project, context)).cpuMs;
}

function command(words: string[], project: Project, context: BenchContext): Promise<Ended> {
  return runProcess(commandOf(words, project, context), join(project.dir, 'output'));
}

function commandOf(words: string[], project: Project, { program, workplace }: BenchContext): Command {
  return { argv: [program.acor, ...words], cwd: project.dir, env: workplace.env };
}

function sizesOf<T>(sizes: { short: T; long: T }, { long }: BenchContext): T {
  return long ? sizes.long : sizes.short;
}
