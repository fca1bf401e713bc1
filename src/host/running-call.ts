import { closeSync } from 'node:fs';
import { runCli } from '../compose/app.ts';
import { EXIT_BY_SIGNAL, RaisedInterrupts } from '../compose/interrupts.ts';
import type { Terminal } from '../compose/terminal.ts';
import { acorCli } from '../operations/acor-cli.ts';
import type { ProjectCache } from '../operations/project-cache.ts';
import type { StdinBytes } from '../util/read-stdin.ts';
import { duplicateOf, type UnixSocket } from '../util/unix-socket.ts';
import { neverWaits } from '../util/write-async.ts';
import { type Call, type FromCaller, type FromHost, say } from './wire.ts';

/** A command whose caller is dead gets this long to cancel its run in order. */
const LEFT_LIMIT_MS = 60_000;

/** The connections of one caller, and its command line. */
export interface Caller {
  control: UnixSocket;
  stdout: UnixSocket;
  stderr: UnixSocket;
  call: Call;
}

/** What a command has left behind in this process. */
interface Aftermath {
  /** The caller died or stopped the command, and nothing in the command listened: its work may go on. */
  wasLeft: boolean;
  /** The project has plugins, whose processes belong to one command. */
  hasPlugins: boolean;
  /** The project does not want a host any more. */
  isOff: boolean;
}

/** One command line, run for its caller as the caller's own process would run it. */
export class RunningCall {
  readonly #caller: Caller;
  /** Of its own: a number that the runtime closes with the connection may soon be that of a file of the run. */
  readonly #out: { stdout: number; stderr: number };
  readonly #forget: (() => void)[];
  readonly #interrupts = new RaisedInterrupts();
  readonly #aborted = new AbortController();
  readonly #left = Promise.withResolvers<number>();
  readonly #stdin = Promise.withResolvers<StdinBytes>();
  #unread: PromiseWithResolvers<boolean> | undefined;
  #isClosed = false;

  /** Undefined where this process has no descriptors left. */
  static begin(caller: Caller): RunningCall | undefined {
    const stdout = duplicateOf(caller.stdout);
    const stderr = duplicateOf(caller.stderr);
    if (stdout >= 0 && stderr >= 0) return new RunningCall(caller, { stdout, stderr });
    for (const fd of [stdout, stderr]) if (fd >= 0) closeSync(fd);
    return undefined;
  }

  private constructor(caller: Caller, out: { stdout: number; stderr: number }) {
    this.#caller = caller;
    this.#out = out;
    // The runtime has made the connections so.
    this.#forget = Object.values(out).map(neverWaits);
  }

  /** Returns the exit code, when everything is written. */
  async run(
    projects: ProjectCache,
    terminal: () => Promise<Terminal>,
  ): Promise<{ exit: number } & Aftermath> {
    const { call, stdout, stderr } = this.#caller;
    const acor = { ...acorCli({ projects }), terminal };
    const done = runCli(acor, call.argv, {
      stdoutFd: this.#out.stdout,
      stderrFd: this.#out.stderr,
      stdoutIsTTY: false,
      stdinIsTTY: call.stdinIsTTY,
      columns: undefined,
      env: call.env,
      cwd: call.cwd,
      signal: this.#aborted.signal,
      interrupts: this.#interrupts,
      readStdin: async () => new TextDecoder().decode(await this.#askStdin()),
      readStdinBytes: () => this.#askStdin(),
      hasUnreadStdin: async () => call.mayHoldInput && this.#askUnread(),
    });
    const exit = await Promise.race([
      done.then((code) => ({ code, wasLeft: false })),
      this.#left.promise.then((code) => ({ code, wasLeft: true })),
    ]);
    const project = await acor.opened()?.openedProject?.catch(() => undefined);
    // A command that is left may still write: its descriptors end with the process.
    if (!exit.wasLeft) {
      for (const forget of this.#forget) forget();
      for (const fd of Object.values(this.#out)) closeSync(fd);
    }
    stdout.end();
    stderr.end();
    return {
      exit: exit.code,
      wasLeft: exit.wasLeft,
      hasPlugins: project?.plugins !== undefined,
      isOff: project?.config.config.host === 'off',
    };
  }

  /** A message of the caller. */
  hear(message: FromCaller, socket: UnixSocket): void {
    if (socket !== this.#caller.control) return;
    if ('signal' in message) this.interrupt(message.signal);
    else if ('stdin' in message)
      this.#stdin.resolve({ bytes: Buffer.from(message.stdin, 'base64'), problem: message.problem });
    else if ('unread' in message) this.#unread?.resolve(message.unread);
  }

  /** A connection has ended: without the one for messages the caller is dead. */
  closed(socket: UnixSocket): void {
    if (socket !== this.#caller.control) return;
    this.interrupt('SIGKILL');
    // What a command asks at its end, the caller does not answer any more.
    this.#isClosed = true;
    this.#unread?.resolve(false);
    // Without a caller nothing may keep this process. A run that has not ended then loses its supervisor, as by a kill.
    setTimeout(() => this.#left.resolve(1), LEFT_LIMIT_MS).unref();
  }

  /** Does to the command what a signal does to a process that runs it. */
  interrupt(signal: string): void {
    this.#aborted.abort();
    if (this.#interrupts.isHandled) this.#interrupts.raise(signal);
    else this.#left.resolve(EXIT_BY_SIGNAL[signal as keyof typeof EXIT_BY_SIGNAL] ?? 1);
  }

  async #askStdin(): Promise<Uint8Array> {
    const { wholeStdin } = await import('../compose/whole-stdin.ts');
    return wholeStdin(await this.#ask('stdin', this.#stdin.promise));
  }

  /** A command asks again at the end of its run: another program of a pipe may have written meanwhile. */
  #askUnread(): Promise<boolean> | false {
    if (this.#isClosed) return false;
    this.#unread = Promise.withResolvers();
    return this.#ask('unread', this.#unread.promise);
  }

  #ask<T>(want: 'stdin' | 'unread', answer: Promise<T>): Promise<T> {
    say<FromHost>(this.#caller.control, { want });
    return answer;
  }
}
