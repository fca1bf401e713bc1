import { execFileSync } from 'node:child_process';
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench, BenchContext, Row } from '../support/bench.ts';
import { HOSTILE_SHAPES, type HostileShape, SECRET } from '../support/hostile-shapes.ts';
import { median } from '../support/measure.ts';
import { BUN } from '../support/program.ts';
import { Project, programPath } from '../support/project.ts';

const ROUNDS = 3;
const MIB = 1 << 20;
/** More bytes only repeat what the first ones showed, unless something grows with them. */
const [BYTES, LONG_BYTES] = [2 * MIB, 24 * MIB];
const MAX_STALL_MS = 50;

/** For how long a tool that writes what is slow to read keeps the supervisor from its timers: deadline, cancel, limits. */
export const stalls: Bench = {
  name: 'stalls',
  summary: 'the longest stall of a supervisor while a hostile tool writes',
  async run(context) {
    const silent = busyOf(projectFor(context, 'silent', undefined), context);
    const rows: Row[] = [];
    for (const [index, shape] of HOSTILE_SHAPES.entries()) {
      const acor = busyOf(projectFor(context, `stalls-${index}`, shape), context);
      rows.push({
        what: `longest stall: ${shape.name}`,
        unit: 'ms',
        acor,
        baseline: { what: 'a tool that writes nothing', value: silent },
        target: { text: `at most ${MAX_STALL_MS} ms`, met: acor <= MAX_STALL_MS },
      });
    }
    return rows;
  },
};

/** The tool is `cat` of a file, as fast as a tool can write. */
function projectFor(context: BenchContext, name: string, shape: HostileShape | undefined): Project {
  const project = new Project(context.workplace.makeFolder(name));
  project.turnSandboxOff(context.workplace.env);
  const adapter = shape?.adapter === undefined ? '' : `adapter: ${shape.adapter}\n`;
  const secrets = shape?.hasSecret ? 'secrets: [S]\n' : '';
  const command =
    shape === undefined
      ? "command: [sleep, '1']\n"
      : `command: [cat, '${writeBytes(project, shape, context.long)}']\n`;
  project.write('tools/hostile/tool.yaml', `version: 1.0.0\nstrict: false\n${adapter}${secrets}${command}`);
  if (shape?.hasSecret)
    execFileSync(context.program.acor, ['secret', 'set', 'S'], {
      cwd: project.dir,
      env: context.workplace.env,
      input: SECRET,
      stdio: ['pipe', 'ignore', 'inherit'],
    });
  return project;
}

function writeBytes(project: Project, { line }: HostileShape, long: boolean): string {
  const path = join(project.dir, 'bytes');
  const fd = openSync(path, 'w');
  let index = 0;
  for (let left = long ? LONG_BYTES : BYTES; left > 0; ) {
    const lines: Buffer[] = [];
    for (let bytes = 0; bytes < MIB; bytes += lines.at(-1)!.length) lines.push(Buffer.from(line(index++)));
    left -= writeSync(fd, Buffer.concat(lines));
  }
  closeSync(fd);
  return path;
}

function busyOf(project: Project, { workplace }: BenchContext): number {
  const samples = Array.from({ length: ROUNDS }, () => {
    const argv = [programPath('stall-probe.ts'), project.dir, 'hostile'];
    const out = execFileSync(BUN, argv, { cwd: project.dir, env: workplace.env, encoding: 'utf8' });
    return Number(JSON.parse(out).busyMs);
  });
  return median(samples);
}
