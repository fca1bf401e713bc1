import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../src/core/config/load.ts';
import { Registry } from '../../src/core/registry/registry.ts';
import type { Bench, Row } from '../support/bench.ts';
import { interleavedMedians, timeMs } from '../support/measure.ts';
import { runProcess } from '../support/process.ts';
import { Project } from '../support/project.ts';

const TOOLS = 1000;
const TARGET_MS = 50;
/** A file that has only just changed is not cached, since the next change could leave its times as they are. */
const SETTLE_MS = 100;

/** Finding 1,000 tools with their manifests: from nothing, and with what an earlier start left in the cache. */
export const discovery: Bench = {
  name: 'discovery',
  summary: `finding ${TOOLS} tools`,
  async run({ program, workplace }) {
    const project = new Project(workplace.makeFolder('discovery'));
    for (let index = 0; index < TOOLS; index++) {
      const name = `tool_${String(index).padStart(4, '0')}`;
      project.addTool(name, 'hello.sh', manifestOf(name));
    }
    await Bun.sleep(SETTLE_MS);
    const config = await loadConfig({ cwd: project.dir, env: {} });
    const list = async (registry: Registry) => {
      const found = await registry.list();
      if (found.length !== TOOLS) throw new Error(`Internal: found ${found.length} of ${TOOLS} tools`);
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
        walk: () => timeMs(() => walk(join(project.dir, 'tools'))),
        process: async () => (await runProcess(acorList, output)).wallMs,
        empty: async () => (await runProcess({ ...acorList, argv: [program.empty] }, output)).wallMs,
      },
      { rounds: 15, warmUps: 3 },
    );
    const row = (what: string, acor: number): Row => ({
      what,
      unit: 'ms',
      acor,
      baseline: { what: 'readdir and stat of the same files', value: figures.walk },
      target: null,
    });
    const target = { text: `at most ${TARGET_MS} ms`, met: figures.warm <= TARGET_MS };
    return [
      { ...row(`${TOOLS} tools found: warm, by a new start`, figures.warm), target },
      { ...row(`${TOOLS} tools found: warm, asked again`, figures.again), target },
      row(`${TOOLS} tools found: cold`, figures.cold),
      {
        ...row(`${TOOLS} tools: \`acor list\`, whole process, warm`, figures.process),
        baseline: { what: 'an empty compiled program', value: figures.empty },
      },
    ];
  },
};

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
