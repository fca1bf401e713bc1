import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { isFinal, type RunState } from '../../src/protocol/run.ts';
import { isRunning, type ProcessIdentity } from '../../src/util/process-table.ts';
import { trustProject } from './trust-project.ts';

export const ROOT = dirname(dirname(import.meta.dirname));
const FIXTURES = join(ROOT, 'test', 'fixtures', 'tools');

/** The shell script that a checkout puts on the PATH. Tests of the script itself start it; all others start `ACOR`. */
export const LAUNCHER = join(ROOT, 'acor');

/** The compiled program, which `npm test` builds. While a source file is newer, the launcher, which then runs the sources. */
export const ACOR = isBuilt() ? join(ROOT, 'dist', 'acor') : LAUNCHER;

/** After this time a test that would otherwise hang kills its processes. A busy machine makes a program slow, never this slow. */
export const HANG_MS = 240_000;

export type Event = Record<string, unknown> & { type: string; seq: number };

export interface Finished {
  code: number | null;
  signal: string | null;
  stdout: string;
  stderr: string;
}

/** For tests of tools that wait for, or reach, something outside of a sandbox, and that do not test the sandbox. */
export const WITHOUT_SANDBOX =
  "version: 1\nenvironment: { cancel_grace_s: 0.3 }\nsecurity: { isolation: 'off' }\n";

/** A project in its own folder, with real tools; everything in it is removed at the end. */
export class TestProject {
  readonly root: string;
  /** What runs its commands. */
  readonly program: string;

  readonly #isTrusted: boolean;
  #configFolder: string | undefined;

  /** With `isTrusted: false` it is a cloned project whose configuration no person has trusted. */
  constructor(
    options: { tools?: readonly string[]; config?: string; isTrusted?: boolean; program?: string } = {},
  ) {
    this.#isTrusted = options.isTrusted ?? true;
    this.program = options.program ?? ACOR;
    this.root = realpathSync(mkdtempSync(join(tmpdir(), 'acor-test-')));
    mkdirSync(join(this.root, '.acor'));
    mkdirSync(join(this.root, 'tools'));
    this.write(
      '.acor/config.yaml',
      options.config ?? 'version: 1\nproject: { name: test }\nenvironment: { cancel_grace_s: 0.3 }\n',
    );
    for (const tool of options.tools ?? [])
      cpSync(join(FIXTURES, tool), join(this.root, 'tools', tool), { recursive: true });
    this.environment();
  }

  /** Writes a policy of the user that leaves these decisions to callers without a person. */
  letAgents(...decisions: readonly string[]): void {
    this.write('user-config/acor/policy.yaml', `agents_may: [${decisions.join(', ')}]\n`);
    this.#configFolder = this.path('user-config');
  }

  get runsDir(): string {
    return join(this.root, '.runs');
  }

  path(...parts: string[]): string {
    return join(this.root, ...parts);
  }

  write(path: string, text: string, mode?: number): string {
    const target = this.path(path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, text);
    if (mode !== undefined) chmodSync(target, mode);
    return target;
  }

  /** Starts a command in the project, with its output in pipes, as an agent does. */
  start(args: readonly string[], options: { cwd?: string; env?: Record<string, string> } = {}): Running {
    return this.startProgram(this.program, args, options);
  }

  /** Starts another program in the same way. */
  startProgram(
    program: string,
    args: readonly string[],
    options: { cwd?: string; env?: Record<string, string> } = {},
  ): Running {
    const env = this.environment(options.env, options.cwd);
    return new Running(
      spawn(program, args, { cwd: options.cwd ?? this.root, env, stdio: ['pipe', 'pipe', 'pipe'] }),
    );
  }

  /** The variables of a command: only what a shell needs, so that the environment of the test run has no effect. */
  environment(env: Record<string, string> = {}, cwd = this.root): Record<string, string> {
    const { PATH = '', HOME = '/' } = process.env;
    const config = this.#configFolder === undefined ? {} : { XDG_CONFIG_HOME: this.#configFolder };
    const given = { PATH, HOME, LANG: 'C.UTF-8', ...config, ...dataFolder(this.root, env), ...env };
    if (this.#isTrusted) trustProject(cwd, given);
    return given;
  }

  /** Runs a command to its end, with nothing on its standard input. */
  async acor(
    args: readonly string[],
    options: { cwd?: string; env?: Record<string, string>; stdin?: string } = {},
  ): Promise<Finished> {
    const running = this.start(args, options);
    running.child.stdin!.end(options.stdin ?? '');
    return running.finished;
  }

  /** Runs a command and parses its one envelope. */
  async envelope(
    args: readonly string[],
    options: { cwd?: string; env?: Record<string, string>; stdin?: string } = {},
  ) {
    const finished = await this.acor(args, options);
    const lines = finished.stdout.split('\n');
    if (lines.length !== 2 || lines[1] !== '')
      throw new Error(`not one line on stdout: ${finished.stdout}${finished.stderr}`);
    const envelope = JSON.parse(lines[0]!) as Envelope;
    // Only with --exit-code=tool the exit code is another program's.
    if (envelope.ok !== (finished.code === 0) && !args.some((each) => each.startsWith('--exit-code')))
      throw new Error(`ok and exit code ${finished.code} disagree: ${finished.stdout}`);
    return { code: finished.code, ...envelope };
  }

  /** Runs a tool and parses its stream of events. */
  async run(
    args: readonly string[],
    options: { cwd?: string; env?: Record<string, string>; stdin?: string } = {},
  ): Promise<RunOfTool> {
    const finished = await this.acor(['run', ...args], options);
    return readRun(finished);
  }

  runIds(): string[] {
    return (existsSync(this.runsDir) ? readdirSync(this.runsDir) : [])
      .filter((name) => name.startsWith('r-'))
      .sort();
  }

  /** The state of a run by its record, and its supervisor; undefined while the record is being created. */
  record(runId: string): { state: RunState; pid: number; supervisor: ProcessIdentity } | undefined {
    try {
      const { state, supervisor } = JSON.parse(
        readFileSync(join(this.runsDir, runId, 'metadata.json'), 'utf8'),
      );
      return { state, pid: supervisor.pid, supervisor };
    } catch {
      return undefined;
    }
  }

  /**
   * Waits until the supervisor of every run that has ended has exited. A command that follows a run returns at the run's last
   * event, and the supervisor removes its queue ticket and its locks after that.
   */
  async supervisorsExited(): Promise<void> {
    for (const runId of this.runIds())
      await until(() => {
        const record = this.record(runId);
        return record === undefined || !isFinal(record.state) || !isRunning(record.supervisor);
      });
  }

  /** Kills the supervisor of a run and waits until it has ended: on a busy machine it lives on for a moment. */
  async killSupervisor(runId: string): Promise<void> {
    const { supervisor } = this.record(runId)!;
    process.kill(supervisor.pid, 'SIGKILL');
    await until(() => !isRunning(supervisor));
  }

  events(runId: string): Event[] {
    const text = readFileSync(join(this.runsDir, runId, 'events.jsonl'), 'utf8');
    // The line that is being written at this moment is incomplete.
    return parseLines(text.slice(0, text.lastIndexOf('\n') + 1));
  }

  [Symbol.dispose](): void {
    removeFolder(this.root);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: a test looks into whatever the envelope holds
export type Envelope = { ok: boolean; data?: any; error?: any; meta: any };

export interface RunOfTool extends Finished {
  events: Event[];
  end: Event;
  of(type: string): Event[];
}

export function readRun(finished: Finished): RunOfTool {
  const events = parseLines(finished.stdout);
  const end = events.at(-1);
  if (end?.type !== 'runner_end')
    throw new Error(`the stream does not end with runner_end: ${finished.stdout}${finished.stderr}`);
  return { ...finished, events, end, of: (type) => events.filter((event) => event.type === type) };
}

/** A command that is running. */
export class Running {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
  #stdout = '';
  #stderr = '';
  #waiters: (() => void)[] = [];

  constructor(child: ChildProcess) {
    this.child = child;
    child.stdin!.on('error', () => {});
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.#stdout += text;
      for (const wake of this.#waiters) wake();
    });
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr += text;
    });
    this.finished = new Promise((resolve) => {
      child.once('close', (code, signal) =>
        resolve({ code, signal, stdout: this.#stdout, stderr: this.#stderr }),
      );
    });
  }

  /** Waits until an event of this type, and with this state if one is named, has come, and returns the first one. */
  async event(type: string, to?: string): Promise<Event> {
    for (;;) {
      const whole = this.#stdout.slice(0, this.#stdout.lastIndexOf('\n') + 1);
      const found = parseLines(whole).find(
        (event) => event.type === type && (to === undefined || event.to === to),
      );
      if (found !== undefined) return found;
      await new Promise<void>((resolve, reject) => {
        this.#waiters.push(resolve);
        void this.finished.then(() =>
          reject(new Error(`it ended before ${type}: ${this.#stdout}${this.#stderr}`)),
        );
      });
    }
  }
}

/** Removes a folder in which a process that is about to exit may still create files. */
export function removeFolder(path: string): void {
  rmSync(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 20 });
}

const LONGEST_PAUSE_MS = 40;

/** Polls until a condition holds, with growing pauses: the tests beside it need the processor. Only the test's own time limit ends it earlier. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  for (let pause = 2; !(await isSo()); pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS))
    await new Promise((resolve) => setTimeout(resolve, pause));
}

/**
 * The processes that were started for a run and are still alive. A look can miss all of them: one that executes a program has no environment for
 * a moment, and one may fork and end between the list and the look at it. So nothing is found only where two looks find nothing.
 */
export function processesOf(runId: string): number[] {
  const found = processesSeen(runId);
  return found.length > 0 ? found : processesSeen(runId);
}

function processesSeen(runId: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        if (!readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(`RUN_ID=${runId}`))
          return false;
        return !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
      } catch {
        return false;
      }
    });
}

export function parseLines(text: string): Event[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

/** Whether the compiled program is newer than every source file: what the launcher asks at each start. */
function isBuilt(): boolean {
  const program = join(ROOT, 'dist', 'acor');
  const sources = [join(ROOT, 'src'), join(ROOT, 'package.json')];
  const newer = spawnSync('find', [...sources, '-newer', program, '-print', '-quit'], { encoding: 'utf8' });
  return newer.status === 0 && newer.stdout === '';
}

/** Keeps the data of the user in the project, unless a test sets its own HOME. */
export function dataFolder(root: string, env: Record<string, string> = {}): Record<string, string> {
  return env.HOME === undefined ? { XDG_DATA_HOME: join(root, 'data') } : {};
}
