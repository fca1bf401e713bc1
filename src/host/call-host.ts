import { closeSync, fstatSync, openSync, renameSync, rmSync } from 'node:fs';
import { EXIT_BY_SIGNAL, SIGNALS } from '../compose/interrupts.ts';
import { isTerminal } from '../compose/is-terminal.ts';
import { hasWaiting, hostFolder, isPrivate, processesIn } from '../core/host/host-folder.ts';
import { connectUnix, type UnixSocket, type UnixSocketHandlers } from '../util/unix-socket.ts';
import { writeAsync } from '../util/write-async.ts';
import { type Call, type FromCaller, type FromHost, Messages, say } from './wire.ts';

/** Commands that need nothing of their own process. Others run by themselves: they serve, prompt, or change what a process keeps. */
export const SERVED = new Set([
  'run',
  'exec',
  'list',
  'describe',
  'runs',
  'show',
  'logs',
  'wait',
  'artifacts',
]);

/** How a call went: its exit code; `missed` where a host could have run it and has not; `own` where only this process can. */
export type HostAnswer = number | 'missed' | 'own';

/** Lets a waiting process of the host run a command line. Without an exit code nothing has happened. */
export async function callHost(argv: string[]): Promise<HostAnswer> {
  if (!SERVED.has(argv[0] ?? '') || process.env['ACOR_HOST'] === 'off') return 'own';
  // This process refuses words that have lost bytes.
  if (argv.some((word) => word.includes('\uFFFD'))) return 'own';
  // At a terminal a command asks, and draws: that needs the terminal itself.
  if (!(await isForPrograms(1)) || !(await isForPrograms(2))) return 'own';
  if (!hasWaiting(process.env)) return 'missed';
  const cwd = ownDirectory();
  const folder = cwd && hostFolder(cwd, process.env);
  if (!cwd || !folder) return 'own';
  if (!isPrivate(folder)) return 'missed';
  const descriptor = openSync(folder, 'r');
  try {
    // Through the descriptor the path of a socket is short, wherever the folder is.
    const short = `/proc/self/fd/${descriptor}`;
    for (const { name, state } of processesIn(folder)) {
      if (state === 'busy') continue;
      const socket = claim(short, name);
      const call = socket && (await HostCall.begin(socket));
      if (!call) continue;
      const stdin = { stdinIsTTY: await isTerminal(0), mayHoldInput: mayHoldInput() };
      return await call.run({ argv, cwd, env: process.env, ...stdin });
    }
    return 'missed';
  } finally {
    closeSync(descriptor);
  }
}

/** Takes a waiting process for this call alone: only one caller can rename its socket. */
function claim(folder: string, name: string): string | undefined {
  const path = `${folder}/${name.replace(/idle$/, 'busy')}`;
  try {
    renameSync(`${folder}/${name}`, path);
    return path;
  } catch {
    return undefined;
  }
}

interface Streams {
  stdout: OutputStream;
  stderr: OutputStream;
}

/** One call of a process of the host. */
class HostCall {
  readonly #control: UnixSocket;
  readonly #messages = new Messages<FromHost>();
  readonly #streams: Streams;
  readonly #ended: PromiseWithResolvers<FromHost | undefined>;
  readonly #id: string;
  #hasBegun = false;

  /** Connects; undefined where nothing listens any more, and the socket is removed. */
  static async begin(path: string): Promise<HostCall | undefined> {
    const id = crypto.randomUUID();
    const ended = Promise.withResolvers<FromHost | undefined>();
    const streams = { stdout: new OutputStream(1), stderr: new OutputStream(2) };
    let call: HostCall | undefined;
    const handlers: UnixSocketHandlers = {
      data: (bytes) => call?.take(bytes),
      closed: () => ended.resolve(undefined),
    };
    try {
      const [control] = await Promise.all([
        connectUnix(path, handlers),
        streams.stdout.connect(path, { stream: 'stdout', id }),
        streams.stderr.connect(path, { stream: 'stderr', id }),
      ]);
      call = new HostCall(control, streams, ended, id);
      return call;
    } catch {
      rmSync(path, { force: true });
      return undefined;
    }
  }

  private constructor(
    control: UnixSocket,
    streams: Streams,
    ended: PromiseWithResolvers<FromHost | undefined>,
    id: string,
  ) {
    this.#control = control;
    this.#streams = streams;
    this.#ended = ended;
    this.#id = id;
  }

  /** Returns the exit code; `missed` when the process did not begin. */
  async run(call: Call): Promise<number | 'missed'> {
    const stopForwarding = this.#forwardSignals();
    say<FromCaller>(this.#control, { call, id: this.#id });
    const end = await this.#ended.promise;
    const { stdout, stderr } = this.#streams;
    if (!this.#hasBegun) {
      stopForwarding();
      return 'missed';
    }
    await Promise.all([stdout.ended, stderr.ended]);
    if (end === undefined || !('exit' in end)) return (await import('./lost-host.ts')).reportLostHost();
    const problem = stdout.problem ?? stderr.problem;
    if (problem === undefined) return end.exit;
    return (await import('./lost-host.ts')).reportUnwritten(problem);
  }

  take(bytes: Uint8Array): void {
    for (const message of this.#messages.take(bytes)) {
      if ('begun' in message) this.#hasBegun = true;
      else if ('want' in message) void this.#answer(message.want);
      else this.#ended.resolve(message);
    }
  }

  async #answer(want: 'stdin' | 'unread'): Promise<void> {
    if (want === 'stdin') {
      const { readStdin } = await import('../util/read-stdin.ts');
      const { bytes, problem } = await readStdin();
      say<FromCaller>(this.#control, { stdin: bytes.toString('base64'), problem });
      return;
    }
    const { hasUnreadStdin } = await import('../util/unread-stdin.ts');
    say<FromCaller>(this.#control, { unread: await hasUnreadStdin() });
  }

  #forwardSignals(): () => void {
    const handlers = SIGNALS.map((signal) => {
      const forward = () => {
        // The command has not begun, or nothing would answer.
        if (!this.#hasBegun) process.exit(EXIT_BY_SIGNAL[signal]);
        say<FromCaller>(this.#control, { signal });
      };
      process.on(signal, forward);
      return () => process.off(signal, forward);
    });
    // A failing write detects a closed stdout.
    process.on('SIGPIPE', () => {});
    return () => {
      for (const remove of handlers) remove();
    };
  }
}

/** Copies a stream of the process to a descriptor of this one, at the pace of its reader. */
class OutputStream {
  readonly #fd: number;
  readonly #done = Promise.withResolvers<void>();
  #writing: Promise<void> = Promise.resolve();
  /** Why the descriptor did not take the bytes, besides a reader that is gone. */
  problem: unknown;

  constructor(fd: number) {
    this.#fd = fd;
  }

  get ended(): Promise<void> {
    return this.#done.promise;
  }

  async connect(path: string, hello: { stream: 'stdout' | 'stderr'; id: string }): Promise<void> {
    const socket = await connectUnix(path, {
      data: (bytes, from) => {
        from.pause();
        this.#writing = this.#writing.then(() => this.#write(bytes, from));
      },
      closed: () => void this.#writing.then(() => this.#done.resolve()),
    });
    say<FromCaller>(socket, hello);
  }

  async #write(bytes: Uint8Array, from: UnixSocket): Promise<void> {
    try {
      if ((await writeAsync(this.#fd, bytes)) === 'written') from.resume();
      else from.end();
    } catch (error) {
      this.problem = error;
      from.end();
    }
  }
}

async function isForPrograms(fd: number): Promise<boolean> {
  try {
    fstatSync(fd);
  } catch {
    return false;
  }
  return !(await isTerminal(fd));
}

function mayHoldInput(): boolean {
  try {
    return !fstatSync(0).isCharacterDevice();
  } catch {
    return false;
  }
}

/** Undefined for a directory that has been removed: the command reports it. */
function ownDirectory(): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined;
  }
}
