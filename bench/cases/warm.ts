import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { bubblewrap } from '../../src/core/sandbox/backends/bubblewrap.ts';
import { Acor } from '../../src/index.ts';
import type { Bench, BenchContext, Row } from '../support/bench.ts';
import { interleavedMedians, timeMs } from '../support/measure.ts';
import { runProcess } from '../support/process.ts';
import { Project } from '../support/project.ts';

const ROUNDS = 25;
/** So long nothing runs before a call, as between two calls of an agent: what waits for the next run has got ready. */
const PAUSE_MS = 400;

/** Eighteen modules of the standard library, as a tool has that asks a service and keeps what it answers. */
const REALISTIC = [
  ...['argparse', 'asyncio', 'csv', 'datetime', 'decimal', 'email', 'hashlib', 'http.client', 'json'],
  ...[
    'logging',
    'os',
    'random',
    're',
    'sqlite3',
    'subprocess',
    'sys',
    'urllib.request',
    'xml.etree.ElementTree',
  ],
];

/** Runs whose sandbox and interpreter wait for them, in a process that stays. */
export const warm: Bench = {
  name: 'warm',
  summary: 'sandboxes and interpreters that wait for their run',
  async run(context) {
    if (!(await bubblewrap.probe()).available) return [];
    return [...(await sandboxRows(context)), ...(await interpreterRows(context))];
  },
};

async function sandboxRows({ workplace }: BenchContext): Promise<Row[]> {
  const project = new Project(workplace.makeFolder('standby'));
  project.write('.acor/config.yaml', 'version: 1\n');
  const entry = project.addTool('hello', 'hello.sh', 'name: hello\nversion: 1.0.0\n');
  const confined = new Acor({ cwd: project.dir, env: workplace.env });
  const open = new Acor({ cwd: project.dir, env: { ...workplace.env, ACOR_SECURITY_ISOLATION: 'off' } });
  const spawned = (argv: string[]) => async () =>
    (await runProcess({ argv, cwd: project.dir, env: workplace.env }, join(workplace.folder, 'out'))).wallMs;
  const bare = ['/bin/bash', entry];
  const figures = await interleavedMedians(
    {
      bare: spawned(bare),
      bubblewrap: spawned(['bwrap', '--unshare-all', '--ro-bind', '/', '/', '--dev', '/dev', ...bare]),
      open: () => call(open, 'hello'),
      confined: () => call(confined, 'hello'),
    },
    { rounds: ROUNDS, warmUps: 3 },
  );
  const own = figures.bubblewrap - figures.bare;
  return [
    {
      what: 'a run in the library: what its sandbox adds, which waited for it',
      unit: 'ms',
      acor: figures.confined - figures.open,
      baseline: { what: 'what `bwrap --unshare-all` adds to the bare tool', value: own },
      target: { text: 'at most the same', met: figures.confined - figures.open <= own },
    },
    {
      what: 'a run in the library: a bash tool, in a sandbox that waited',
      unit: 'ms',
      acor: figures.confined,
      baseline: { what: 'the bare tool', value: figures.bare },
      target: null,
    },
  ];
}

async function interpreterRows({ workplace }: BenchContext): Promise<Row[]> {
  const project = new Project(workplace.makeFolder('interpreters'));
  project.write('.acor/config.yaml', 'version: 1\n');
  const answer = `print('{"type":"result","ok":true,"data":{}}')\n`;
  const tools = { realistic: `import ${REALISTIC.join(', ')}\n${answer}`, tiny: `import json\n${answer}` };
  for (const [name, text] of Object.entries(tools)) {
    project.write(`tools/${name}/tool.yaml`, `name: ${name}\nversion: 1.0.0\nwarm: true\n`);
    project.write(`tools/${name}/main.py`, text);
  }
  // The interpreter itself: the shim of a version manager would add its own time to what is started bare.
  const python = Bun.spawnSync(['python3', '-c', 'import sys; print(sys.executable)'])
    .stdout.toString()
    .trim();
  const env = { ...workplace.env, PATH: `${join(python, '..')}:${workplace.env['PATH']}` };
  const acor = new Acor({ cwd: project.dir, env });
  const bare = (name: string) => () => firstLine(python, join(project.dir, 'tools', name, 'main.py'), env);
  const figures = await interleavedMedians(
    {
      realistic: () => answerOf(acor, 'realistic'),
      bareRealistic: bare('realistic'),
      tiny: () => answerOf(acor, 'tiny'),
      bareTiny: bare('tiny'),
    },
    { rounds: ROUNDS, warmUps: 3 },
  );
  const row = (what: string, acorMs: number, bareMs: number, factor: number): Row => ({
    what: `a Python tool ${what}, warm: until its result`,
    unit: 'ms',
    acor: acorMs,
    baseline: { what: 'until the first line of the bare tool', value: bareMs },
    target: { text: `at most 1/${factor}`, met: acorMs * factor <= bareMs },
  });
  return [
    row(`with ${REALISTIC.length} imports`, figures.realistic, figures.bareRealistic, 5),
    row('with one import', figures.tiny, figures.bareTiny, 1.5),
  ];
}

async function call(acor: Acor, tool: string): Promise<number> {
  await pause();
  return timeMs(async () => {
    const { state, message } = await acor.run(tool);
    if (state !== 'completed') throw new Error(`${state}: ${message}`);
  });
}

/** From the request of a run to its result in the stream. */
async function answerOf(acor: Acor, tool: string): Promise<number> {
  await pause();
  const begunMs = performance.now();
  const run = acor.run(tool);
  let answeredMs: number | undefined;
  for await (const { type } of run) if (type === 'result') answeredMs ??= performance.now() - begunMs;
  await run;
  if (answeredMs === undefined) throw new Error('no result');
  return answeredMs;
}

async function firstLine(python: string, file: string, env: Record<string, string>): Promise<number> {
  await pause();
  const begunMs = performance.now();
  const child = spawn(python, ['-u', file], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  const tookMs = performance.now() - begunMs;
  child.stdout.resume();
  await once(child, 'close');
  return tookMs;
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
