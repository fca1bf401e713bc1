import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/core/config/load.ts';
import { Registry } from '../../src/core/registry/registry.ts';
import type { Bench, Row } from '../support/bench.ts';
import { interleavedMedians, timeMs } from '../support/measure.ts';
import { runProcess } from '../support/process.ts';
import { Project } from '../support/project.ts';

const TOOLS = 1000;
const MANY_TOOLS = 10_000;
const TARGET_MS = 50;
const COLD_TARGET_MS = 250;
const MANY_TARGET_MS = 150;
/** A file that has only just changed is not cached, since the next change could leave its times as they are. */
const SETTLE_MS = 100;

/** Finding 1,000 tools with their manifests: from nothing, and with what an earlier start left in the cache; 10,000 with that. */
export const discovery: Bench = {
  name: 'discovery',
  summary: `finding ${TOOLS} tools`,
  async run({ program, workplace }) {
    const project = projectWith(TOOLS, workplace.makeFolder('discovery'));
    const large = projectWith(MANY_TOOLS, workplace.makeFolder('discovery-many'));
    await Bun.sleep(SETTLE_MS);
    const config = await loadConfig({ cwd: project.dir, env: {} });
    const largeConfig = await loadConfig({ cwd: large.dir, env: {} });
    const list = async (registry: Registry, tools = TOOLS) => {
      const found = await registry.list();
      if (found.length !== tools) throw new Error(`Internal: found ${found.length} of ${tools} tools`);
    };
    const cache = join(project.dir, '.runs', 'cache');
    const opened = Registry.open(config);
    const acorList = { argv: [program.acor, 'list'], cwd: project.dir, env: workplace.env };
    const output = join(project.dir, 'output');
    const figures = await interleavedMedians(
      {
        cold: () => {
          rmSync(cache, { recursive: true, force: true });
          return timeMs(() => list(Registry.open(config)));
        },
        warm: () => timeMs(() => list(Registry.open(config))),
        again: () => timeMs(() => list(opened)),
        many: () => timeMs(() => list(Registry.open(largeConfig), MANY_TOOLS)),
        walkMany: () => timeMs(() => walk(join(large.dir, 'tools'))),
        walk: () => timeMs(() => walk(join(project.dir, 'tools'))),
        process: async () => (await runProcess(acorList, output)).wallMs,
        empty: async () => (await runProcess({ ...acorList, argv: [program.empty] }, output)).wallMs,
      },
      { rounds: 15, warmUps: 3 },
    );
    const row = (what: string, acor: number, most: number, walked = figures.walk): Row => ({
      what,
      unit: 'ms',
      acor,
      baseline: { what: 'readdir and stat of the same files', value: walked },
      target: { text: `at most ${most} ms`, met: acor <= most },
    });
    return [
      row(`${TOOLS} tools found: warm, by a new start`, figures.warm, TARGET_MS),
      row(`${TOOLS} tools found: warm, asked again`, figures.again, TARGET_MS),
      row(`${TOOLS} tools found: cold`, figures.cold, COLD_TARGET_MS),
      row(`${MANY_TOOLS} tools found: warm, by a new start`, figures.many, MANY_TARGET_MS, figures.walkMany),
      {
        what: `${TOOLS} tools: \`acor list\`, whole process, warm`,
        unit: 'ms',
        acor: figures.process,
        baseline: { what: 'an empty compiled program', value: figures.empty },
        target: null,
      },
    ];
  },
};

function projectWith(tools: number, folder: string): Project {
  const project = new Project(folder);
  for (let index = 0; index < tools; index++) {
    const name = `tool_${String(index).padStart(5, '0')}`;
    project.addTool(name, 'hello.sh', manifestOf(name));
  }
  return project;
}

function manifestOf(name: string): string {
  return `name: ${name}
version: 1.2.3
description: Counts the lines of a file.
category: text
inputs:
  - name: input
    type: path
    required: true
    description: The file to read.
  - name: limit
    type: int
    default: 100
    description: How many lines to read at most.
permissions:
  level: minimal
timeout_s: 60
exit_codes: { ok: 0, retryable_error: 20, fatal_error: 30 }
`;
}

function walk(dir: string): void {
  for (const entry of readdirSync(dir, { withFileTypes: true })) {
    const path = join(dir, entry.name);
    statSync(path);
    if (entry.isDirectory()) walk(path);
  }
}
