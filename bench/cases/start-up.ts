import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Bench, BenchContext, Row } from '../support/bench.ts';
import { interleavedMedians } from '../support/measure.ts';
import { runProcess } from '../support/process.ts';
import { Project } from '../support/project.ts';

const ROUNDS = 40;
/** What ACOR adds at most: to the bare tool in the default sandbox, without one, and through a host; and a command to an empty program. */
const TARGET_MS = 30;
const OPEN_TARGET_MS = 18;
const HOST_TARGET_MS = 12;
const COMMAND_TARGET_MS = 8;

/** The wall time of whole processes: `acor run` beside the bare tool, and commands that run nothing. */
export const startUp: Bench = {
  name: 'start-up',
  summary: 'starting',
  async run(context) {
    const { program, workplace } = context;
    const project = new Project(workplace.makeFolder('start-up'));
    project.write('.acor/config.yaml', 'version: 1\nenvironment:\n  timeout_s: 600\n');
    const bash = project.addTool('hello_bash', 'hello.sh', manifestOf('hello_bash'));
    const python = project.addTool('hello_python', 'hello.py', manifestOf('hello_python'));
    project.write(
      'tools/hello_true/tool.yaml',
      `${manifestOf('hello_true')}command: [/bin/true]\nadapter: plain\n`,
    );
    const open = new Project(workplace.makeFolder('open'));
    open.turnSandboxOff(workplace.env);
    const unconfined = open.addTool('hello_bash', 'hello.sh', manifestOf('hello_bash'));
    const withRuns = await projectWithRuns(context);
    const minimal = new Project(workplace.makeFolder('minimal'));
    const bare = minimal.addTool('hello_bash', 'hello.sh');
    return [
      ...(await runRows('a bash tool', 'hello_bash', ['/bin/bash', bash], project, context)),
      ...(await runRows('a Python tool', 'hello_python', [workplace.python, python], project, context)),
      ...(await runRows('/bin/true as a plain tool', 'hello_true', ['/bin/true'], project, context)),
      ...(await runRows(
        'a bash tool, no manifest or config',
        'hello_bash',
        ['/bin/bash', bare],
        minimal,
        context,
      )),
      ...(await runRows(
        'a bash tool without a sandbox',
        'hello_bash',
        ['/bin/bash', unconfined],
        open,
        context,
        OPEN_TARGET_MS,
      )),
      ...(await hostRows('a bash tool', 'hello_bash', ['/bin/bash', bash], project, context)),
      ...(await hostRows(
        'a bash tool without a sandbox',
        'hello_bash',
        ['/bin/bash', unconfined],
        open,
        context,
      )),
      ...(await commandRows([program.acor, 'list'], 'acor list', project, context)),
      ...(await commandRows([program.acor, 'runs'], 'acor runs: three runs', withRuns, context)),
      ...(await commandRows([program.acor, 'version'], 'acor version', project, context)),
    ];
  },
};

async function projectWithRuns({ program, workplace }: BenchContext): Promise<Project> {
  const project = new Project(workplace.makeFolder('with-runs'));
  project.addTool('hello_bash', 'hello.sh', manifestOf('hello_bash'));
  const command = { argv: [program.acor, 'run', 'hello_bash'], cwd: project.dir, env: workplace.env };
  for (let count = 0; count < 3; count++) await runProcess(command, outputOf(project));
  return project;
}

async function runRows(
  what: string,
  tool: string,
  argv: string[],
  project: Project,
  { program, workplace }: BenchContext,
  targetMs = TARGET_MS,
): Promise<Row[]> {
  const measure = (words: string[]) => async () => {
    const { wallMs } = await runProcess(
      { argv: words, cwd: project.dir, env: workplace.env },
      outputOf(project),
    );
    return wallMs;
  };
  const figures = await interleavedMedians(
    {
      bare: measure(argv),
      compiled: measure([program.acor, 'run', tool]),
      launcher: measure([program.launcher, 'run', tool]),
    },
    { rounds: ROUNDS, warmUps: 3 },
  );
  const row = (how: string, acor: number): Row => ({
    what: `${how} run: ${what}`,
    unit: 'ms',
    acor,
    baseline: { what: 'the bare tool', value: figures.bare },
    target: { text: `at most +${targetMs} ms`, met: acor - figures.bare <= targetMs },
  });
  return [row('acor', figures.compiled), row('./acor', figures.launcher)];
}

/** The same run in a process of the host, beside one without and beside the bare tool. */
async function hostRows(
  what: string,
  tool: string,
  argv: string[],
  project: Project,
  { program, workplace }: BenchContext,
): Promise<Row[]> {
  const runtime = workplace.makeFolder(`runtime-${basename(project.dir)}`);
  const call = (words: string[], host: 'auto' | 'off') => {
    const env = { ...workplace.env, XDG_RUNTIME_DIR: runtime, ACOR_HOST: host };
    return async () => (await runProcess({ argv: words, cwd: project.dir, env }, outputOf(project))).wallMs;
  };
  const isWaiting = () => readFileSync(outputOf(project), 'utf8').includes('"state":"idle"');
  do {
    await call([program.acor, 'list'], 'auto')();
    await call([program.acor, 'host'], 'auto')();
  } while (!isWaiting());
  const run = (host: 'auto' | 'off', by = program.acor) => call([by, 'run', tool], host);
  const rounds = { rounds: ROUNDS, warmUps: 3 };
  // The host prepares the next sandbox while the run without it goes on, and has one for each of its calls.
  const rest = { bare: call(argv, 'off'), alone: run('off') };
  const installed = await interleavedMedians({ ...rest, hosted: run('auto', program.installed) }, rounds);
  const figures = await interleavedMedians({ ...rest, hosted: run('auto') }, rounds);
  await call([program.acor, 'host', 'stop'], 'auto')();
  const most = HOST_TARGET_MS;
  const row = (how: string, { hosted, bare }: typeof figures): Row => ({
    what: `acor run through a host${how}: ${what}`,
    unit: 'ms',
    acor: hosted,
    baseline: { what: 'the bare tool', value: bare },
    target: { text: `at most +${most} ms`, met: hosted - bare <= most },
  });
  return [
    row(', the command of npm', installed),
    row('', figures),
    {
      what: `acor run through a host: ${what}`,
      unit: 'ms',
      acor: figures.hosted,
      baseline: { what: 'acor run without a host', value: figures.alone },
      target: null,
    },
  ];
}

async function commandRows(
  argv: string[],
  what: string,
  project: Project,
  { program, workplace }: BenchContext,
): Promise<Row[]> {
  const measure = (words: string[]) => async () =>
    (await runProcess({ argv: words, cwd: project.dir, env: workplace.env }, outputOf(project))).wallMs;
  const figures = await interleavedMedians(
    { acor: measure(argv), empty: measure([program.empty]) },
    { rounds: ROUNDS, warmUps: 3 },
  );
  const baseline = { what: 'an empty compiled program', value: figures.empty };
  const met = figures.acor - figures.empty <= COMMAND_TARGET_MS;
  const target = { text: `at most +${COMMAND_TARGET_MS} ms`, met };
  return [{ what, unit: 'ms', acor: figures.acor, baseline, target }];
}

/** A file, as an agent has no terminal, and /dev/null looks like one at first. */
function outputOf(project: Project): string {
  return join(project.dir, 'output');
}

function manifestOf(name: string): string {
  return `name: ${name}\nversion: 1.0.0\ndescription: Says that it is done.\npermissions:\n  level: minimal\n`;
}
