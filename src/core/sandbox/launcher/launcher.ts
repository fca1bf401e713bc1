import { closeSync, fstatSync, readSync } from 'node:fs';
import { AcorError } from '../../../protocol/acor-error.ts';
import { os } from '../../../util/system.ts';
import type { Exit } from '../../process/runtime.ts';
import { grantChanged } from '../profile/mounts.ts';
import type { LaunchOptions, SandboxLaunch, StandbyPlace, StandbySandbox } from '../sandbox.ts';
import { scratchFile } from '../scratch-file.ts';
import type { Architecture } from '../seccomp/system-calls.ts';
import { landlockRecords } from './landlock-rules.ts';
import type { ConfineSteps, EarlySteps, LaunchSteps, Program, ToolStart } from './launch-steps.ts';
import { perlScript } from './perl-script.ts';

/** The launcher's process to start: its input, the destination of its output, and its additional descriptors. */
export interface LauncherStreams {
  stdin: number;
  stdout: number | 'pipe';
  stderr: number | 'pipe';
  fds: number[];
}

type LauncherOptions = Pick<LaunchOptions, 'stdin' | 'stdout' | 'stderr' | 'scratch' | 'groups'>;

/** The launcher's messages are a few lines. */
const MAX_WORDS_BYTES = 64 * 1024;

/** The program wherever the launcher runs. */
export const PERL_COMMAND = ['-'] as const;

/**
 * One start of a tool through the launcher. The launcher reads its script and orders from standard input, and writes
 * its report to an unlinked file, together with any output of the program that started it.
 */
export class Launcher {
  readonly streams: LauncherStreams;
  readonly #status: number;
  readonly #isOpen = { orders: true, status: true };
  readonly #stays: boolean;
  #program: string;

  /** `makeFile` creates the launcher's files, by default unlinked ones. */
  constructor(
    steps: LaunchSteps | EarlySteps,
    options: LauncherOptions,
    architecture: Architecture,
    makeFile: (use: 'orders' | 'status', text: string) => number = (_, text) =>
      scratchFile(options.scratch, text),
  ) {
    this.#status = makeFile('status', '');
    this.#stays = steps.stays !== null;
    this.#program = 'argv' in steps ? steps.argv[0] : '';
    const stdin = options.stdin ?? -1;
    const piped = typeof options.stdout !== 'number' || typeof options.stderr !== 'number';
    // The runtime's own pipes can only be the three streams; named pipes leave these free for the launcher.
    const layout = piped
      ? { stdout: options.stdout, stderr: options.stderr, fds: [this.#status], streams: '1,2', status: 3 }
      : {
          stdout: this.#status,
          stderr: this.#status,
          fds: [options.stdout as number, options.stderr as number],
          streams: '3,4',
          status: 2,
        };
    const stdinAt = 3 + layout.fds.length;
    if (stdin !== -1) layout.fds.push(stdin);
    const groups = options.groups ?? [];
    const groupsAt = 3 + layout.fds.length;
    layout.fds.push(...groups);
    const pipeAt = 3 + layout.fds.length;
    if ('pipe' in steps) layout.fds.push(steps.pipe);
    const orders = [
      `status=${layout.status}`,
      `streams=${stdin === -1 ? 'null' : stdinAt},${layout.streams}`,
      ...groups.map((_, index) => `group=${groupsAt + index}`),
      ...confineRecords(steps),
      ...('pipe' in steps ? [`pipe=${pipeAt}`, ...warmRecords(steps)] : startRecords(steps)),
    ];
    const script = makeFile('orders', `${perlScript(architecture, steps)}__END__\n${orders.join('\0')}`);
    this.streams = { stdin: script, stdout: layout.stdout, stderr: layout.stderr, fds: layout.fds };
  }

  /**
   * What the run adds, for a launcher that waits for it, as bytes for its pipe. With `renamed`, its folders are mounted below `slot`, beside the
   * real path of the run's folder, `run`.
   */
  order(start: ToolStart, renamed?: { slot: string; run: string }): Uint8Array {
    this.#program = start.argv[0];
    const places = renamed === undefined ? [] : [`slot=${renamed.slot}`, `run=${renamed.run}`];
    // The launcher looks for a zero byte before the last record.
    return Buffer.from([...places, ...startRecords(start), 'end='].join('\0'));
  }

  /** As a sandbox that waits: `launch` starts it. With `slot`, the folders of a run are mounted below that name until the run enters. */
  waiting(launch: SandboxLaunch, slot?: string): StandbySandbox {
    return {
      spawn: launch.spawn,
      release: launch.release,
      isReady: () => this.isReady,
      isTaken: () => saidIn(this.#words()).has('taken'),
      enter: (start, run) => this.order(start, slot === undefined ? undefined : { slot, run }),
      launch,
    };
  }

  /** The process has inherited its descriptors by now. */
  release(): void {
    if (this.#isOpen.orders) closeSync(this.streams.stdin);
    this.#isOpen.orders = false;
  }

  close(): void {
    this.release();
    if (this.#isOpen.status) closeSync(this.#status);
    this.#isOpen.status = false;
  }

  /** Whether it waits for its run: everything around it has been set up. */
  get isReady(): boolean {
    return this.#isOpen.status && saidIn(this.#words()).has('ready');
  }

  hasEnded(): boolean {
    return this.#stays && this.#isOpen.status && saidIn(this.#words()).has('ended');
  }

  /** How the tool ended. `failed` converts the launcher's output to the error of a failed launch. */
  settle(exit: Exit, failed: (words: string) => AcorError): ReturnType<SandboxLaunch['settle']> {
    const words = this.#words();
    const said = saidIn(words);
    const cannotStart = said.get('cannot-start');
    if (cannotStart !== undefined) throw spawnFailed(this.#program, Number(cannotStart));
    const changed = said.get('changed');
    if (changed !== undefined) throw grantChanged(changed, 'it leads elsewhere now');
    if (!said.has('up') && exit.signal === null) throw failed(said.get('failed') ?? words.trim());
    if (!this.#stays) return { exit, left: 0 };
    const [ended, cpuMicroseconds, maxRssKib] = (said.get('ended') ?? '').split(' ').map(Number);
    if (ended === undefined || !said.has('ended'))
      return { exit: { ...killed(exit), usage: { cpu_s: null, max_rss_bytes: null } }, left: 0 };
    return { exit: exitOf(ended, cpuMicroseconds!, maxRssKib!), left: Number(said.get('left') ?? 0) };
  }

  #words(): string {
    const bytes = Buffer.alloc(Math.min(fstatSync(this.#status).size, MAX_WORDS_BYTES));
    return bytes.toString('utf8', 0, readSync(this.#status, bytes, 0, bytes.length, 0));
  }
}

/** The streams of a sandbox that waits. */
export function streamsOf({ folder, stdin, stdout, stderr }: Omit<StandbyPlace, 'warm'>): LauncherOptions {
  return { ...(stdin !== undefined && { stdin }), stdout, stderr, scratch: folder };
}

/** The lines of the launcher's report: the first word of each, and the rest of the first line with that word. */
function saidIn(words: string): ReadonlyMap<string, string> {
  const said = new Map<string, string>();
  for (const line of words.split('\n')) {
    const space = line.indexOf(' ');
    const word = space === -1 ? line : line.slice(0, space);
    if (!said.has(word)) said.set(word, space === -1 ? '' : line.slice(space + 1));
  }
  return said;
}

/** The first process was killed before it reported the tool's end, which also killed the tool. */
function killed({ rc, signal }: Exit): { rc: number | null; signal: string | null } {
  if (signal !== null || rc === null) return { rc: null, signal: signal ?? 'SIGKILL' };
  return { rc: null, signal: rc > 128 ? nameOfSignal(rc - 128) : 'SIGKILL' };
}

function warmRecords({ warm }: EarlySteps): string[] {
  return warm === undefined ? [] : ['warm=1', ...programRecords(warm)];
}

function startRecords({ cwd, groups = [], ...program }: ToolStart): string[] {
  return [`cwd=${cwd}`, ...groups.map((path) => `group=${path}`), ...programRecords(program)];
}

function programRecords({ argv, env }: Program): string[] {
  return [
    ...Object.entries(env).map(([name, value]) => `env=${name}=${value}`),
    ...argv.map((word) => `arg=${word}`),
  ];
}

function confineRecords(steps: ConfineSteps): string[] {
  return [
    `filter=${Buffer.from(steps.filter).toString('hex')}`,
    ...(steps.stays === null ? [] : [`${steps.stays}=1`]),
    ...(steps.handsOn ? ['handson=1'] : []),
    ...(steps.user === null ? [] : [`uid=${steps.user.uid}`, `gid=${steps.user.gid}`]),
    ...steps.limits.map(([resource, value]) => `limit=${resource},${value}`),
    ...(steps.isBare ? ['bare=1'] : []),
    ...(steps.secrets === undefined ? [] : [`secrets=${steps.secrets}`]),
    ...(steps.landlock === null ? [] : landlockRecords(steps.landlock)),
  ];
}

/** From the status of `wait4`. A peak of 0 is not known. */
export function exitOf(status: number, cpuMicroseconds: number, maxRssKib: number): Exit {
  const signal = status & 0x7f;
  return {
    rc: signal === 0 ? status >> 8 : null,
    signal: signal === 0 ? null : nameOfSignal(signal),
    usage: { cpu_s: cpuMicroseconds / 1e6, max_rss_bytes: maxRssKib === 0 ? null : maxRssKib * 1024 },
  };
}

function nameOfSignal(number: number): string {
  return nameIn(os().constants.signals, number) ?? `SIG${number}`;
}

function nameIn(numbers: Readonly<Record<string, number>>, number: number): string | undefined {
  return Object.entries(numbers).find(([, value]) => value === number)?.[0];
}

/** The same message as for a tool that starts without a launcher. */
function spawnFailed(program: string, errno: number): AcorError {
  const name = nameIn(os().constants.errno, errno) ?? `error ${errno}`;
  const why = name === 'ENOENT' ? 'no such program' : name;
  return new AcorError('E_SPAWN_FAILED', `cannot start ${program}: ${why}`, {
    hint:
      name === 'E2BIG'
        ? 'The system takes arguments only up to a length (128 KB each on Linux): give a long value in a file.'
        : name === 'EACCES'
          ? `Within the sandbox it may not be read or executed. Check its mode bits: chmod o+rx '${program}'`
          : 'Check that the program of the tool exists, that its mode bits let it run, and that the interpreter in its first line exists.',
  });
}
