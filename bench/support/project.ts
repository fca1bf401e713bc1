import {
  closeSync,
  cpSync,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RunnerEnd } from '../../src/protocol/index.ts';
import { trustProject } from '../../test/support/trust-project.ts';

const PROGRAMS = fileURLToPath(new URL('../programs/', import.meta.url));
/** More than any `runner_end` is long. */
const TAIL_BYTES = 65_536;

/** A project in a folder: its tools, its configuration, and the runs that ACOR keeps there. */
export class Project {
  readonly dir: string;

  constructor(dir: string) {
    this.dir = dir;
  }

  /** Writes a file of the project, and makes the folders above it. */
  write(path: string, text: string): string {
    const file = join(this.dir, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
    return file;
  }

  /** Its tools run without a sandbox, which the user of `env` has trusted it with. */
  turnSandboxOff(env: Record<string, string | undefined>): void {
    this.write('.acor/config.yaml', "version: 1\nsecurity: { isolation: 'off' }\n");
    trustProject(this.dir, env);
  }

  /** Makes a tool of one of `bench/programs/`, and returns its entry. */
  addTool(name: string, program: string, manifest?: string): string {
    const entry = join(this.dir, 'tools', name, `cli${extname(program)}`);
    mkdirSync(dirname(entry), { recursive: true });
    if (manifest !== undefined) this.write(`tools/${name}/tool.yaml`, manifest);
    cpSync(programPath(program), entry);
    return entry;
  }

  /** The end of the one run there is, which is removed then: its log may fill the disk. */
  takeRun(): RunnerEnd {
    const [run, ...others] = this.#runs();
    if (run === undefined || others.length > 0)
      throw new Error(`Internal: ${others.length + 1} runs in ${this.dir}`);
    const end = lastEvent(join(this.dir, '.runs', run, 'events.jsonl')) as RunnerEnd;
    this.removeRuns();
    if (end.state !== 'completed') throw new Error(`a run of the benchmark has ${end.state}: ${end.code}`);
    return end;
  }

  /** Removes all runs; what discovery has cached stays. */
  removeRuns(): void {
    for (const name of this.#runs()) rmSync(join(this.dir, '.runs', name), { recursive: true });
  }

  #runs(): string[] {
    const runs = join(this.dir, '.runs');
    return existsSync(runs) ? readdirSync(runs).filter((name) => name.startsWith('r-')) : [];
  }
}

/** The path of one of `bench/programs/`. */
export function programPath(name: string): string {
  return join(PROGRAMS, name);
}

function lastEvent(path: string): unknown {
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
    readSync(fd, tail, 0, tail.length, size - tail.length);
    return JSON.parse(tail.toString('utf8').trimEnd().split('\n').at(-1)!);
  } finally {
    closeSync(fd);
  }
}
