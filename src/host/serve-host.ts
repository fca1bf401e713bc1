import {
  chmodSync,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { Interrupts } from '../compose/interrupts.ts';
import type { Terminal } from '../compose/terminal.ts';
import { inheritedFrom } from '../core/host/caller.ts';
import {
  hostFolder,
  isLive,
  isPrivate,
  ownName,
  processesIn,
  removeIfLeft,
  STARTING,
  TERMS,
  termsOf,
  variablesAtStart,
} from '../core/host/host-folder.ts';
import { ProjectCache } from '../operations/project-cache.ts';
import type { HostRequest } from '../operations/surfaces.ts';
import { listenUnix, peerOf, type UnixSocket } from '../util/unix-socket.ts';
import { type Caller, RunningCall } from './running-call.ts';
import { type FromCaller, type FromHost, Messages, say } from './wire.ts';

/** A process that is called less often than this costs more than it saves. */
const IDLE_MS = 10 * 60_000;
const CHECK_MS = 5_000;
/** More than a process has after thousands of ordinary calls; one call of a large answer can leave it. */
const MAX_RSS_BYTES = 256 * 1024 * 1024;

/** Runs command lines for callers, one at a time, until no caller needs this process any more. */
export async function serveHost(request: HostRequest, terminal: () => Promise<Terminal>): Promise<void> {
  const folder = hostFolder(request.cwd, request.env);
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (!isPrivate(folder)) return;
  writeFileSync(join(folder, TERMS), termsOf(request.cwd, request.env), { mode: 0o600 });
  await new HostProcess(folder, terminal, request.interrupts).ended;
}

class HostProcess {
  readonly #folder: string;
  readonly #short: string;
  readonly #terminal: () => Promise<Terminal>;
  readonly #inherited = inheritedFrom('self');
  readonly #program = programNow();
  readonly #projects = new ProjectCache();
  readonly #name = ownName();
  readonly #ended = Promise.withResolvers<void>();
  readonly #stopListening: () => void;
  readonly #parts = new Map<string, Partial<Caller>>();
  readonly #ownEnv = variablesAtStart(process.env);
  #idleSince = Date.now();
  #claimedSince: number | undefined;
  #running: RunningCall | undefined;
  #mayStay = true;

  constructor(folder: string, terminal: () => Promise<Terminal>, interrupts: Interrupts) {
    this.#folder = folder;
    this.#terminal = terminal;
    // The path of a socket has at most 107 bytes; through a descriptor of its folder it is short.
    this.#short = `/proc/self/fd/${openSync(folder, 'r')}`;
    for (const each of processesIn(folder))
      if (!isLive(each)) rmSync(join(folder, each.name), { force: true });
    rmSync(this.#path('idle'), { force: true });
    this.#stopListening = listenUnix(`${this.#short}/${this.#name}.busy`, this.#handlers());
    chmodSync(this.#path('busy'), 0o600);
    interrupts.listen((signal) => this.#interrupt(signal));
    process.on('SIGPIPE', () => {});
    setInterval(() => this.#check(), CHECK_MS);
    void prepare().then(() => {
      this.#wait();
      rmSync(join(folder, STARTING), { force: true });
    });
  }

  /** Resolves when this process has no more work. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  #path(state: 'idle' | 'busy'): string {
    return join(this.#folder, `${this.#name}.${state}`);
  }

  /** Lets the next caller claim this process. */
  #wait(): void {
    this.#idleSince = Date.now();
    this.#claimedSince = undefined;
    try {
      renameSync(this.#path('busy'), this.#path('idle'));
    } catch {
      // The socket is gone: `acor host stop`, or a cleaner of temporary files.
      this.#end();
    }
  }

  #end(): void {
    for (const state of ['idle', 'busy'] as const) rmSync(this.#path(state), { force: true });
    this.#stopListening();
    removeIfLeft(this.#folder);
    this.#ended.resolve();
  }

  #check(): void {
    if (this.#running !== undefined) return;
    const isIdle = existsSync(this.#path('idle'));
    if (isIdle) this.#claimedSince = undefined;
    else {
      // A caller that claimed this process, and died before it called.
      this.#claimedSince ??= Date.now();
      if (Date.now() - this.#claimedSince > CHECK_MS) this.#wait();
    }
    if (Date.now() - this.#idleSince > IDLE_MS || programNow() !== this.#program) this.#end();
  }

  #interrupt(signal: string): void {
    this.#mayStay = false;
    if (this.#running === undefined) this.#end();
    else this.#running.interrupt(signal);
  }

  #handlers() {
    const messages = new Map<UnixSocket, Messages<FromCaller>>();
    return {
      data: (bytes: Uint8Array, socket: UnixSocket) => {
        const reader = messages.get(socket) ?? new Messages<FromCaller>();
        messages.set(socket, reader);
        for (const message of reader.take(bytes)) this.#hear(message, socket);
      },
      closed: (socket: UnixSocket) => {
        messages.delete(socket);
        for (const [id, parts] of this.#parts)
          if (Object.values(parts).includes(socket)) this.#parts.delete(id);
        this.#running?.closed(socket);
      },
    };
  }

  #hear(message: FromCaller, socket: UnixSocket): void {
    if (!('id' in message)) {
      this.#running?.hear(message, socket);
      return;
    }
    const parts = this.#parts.get(message.id) ?? {};
    this.#parts.set(message.id, parts);
    if ('stream' in message) parts[message.stream] = socket;
    else {
      const why = this.#whyNot(socket);
      if (why !== undefined) {
        say<FromHost>(socket, { refused: why });
        socket.end();
        // Its own callers find it again.
        if (this.#running === undefined && existsSync(this.#path('busy'))) this.#wait();
        return;
      }
      parts.control = socket;
      parts.call = message.call;
    }
    const { control, stdout, stderr, call } = parts;
    if (!control || !stdout || !stderr || !call) return;
    this.#parts.delete(message.id);
    void this.#serve({ control, stdout, stderr, call });
  }

  /** Why this process may not stand in for the one that calls. The kernel says which process that is. */
  #whyNot(socket: UnixSocket): string | undefined {
    if (this.#running !== undefined) return 'another command is running';
    const peer = peerOf(socket);
    if (peer === undefined || peer.uid !== process.getuid?.()) return 'the caller is another user';
    if (this.#inherited === undefined || inheritedFrom(peer.pid) !== this.#inherited)
      return 'the tools of the caller would have other rights or limits';
    return programNow() === this.#program ? undefined : 'the program has changed';
  }

  async #serve(caller: Caller): Promise<void> {
    const { control, call } = caller;
    const running = RunningCall.begin(caller);
    if (running === undefined) {
      say<FromHost>(control, { refused: 'there are no more descriptors' });
      control.end();
      return;
    }
    this.#running = running;
    say<FromHost>(control, { begun: true });
    setEnvironment(call.env);
    const { exit, wasLeft, hasPlugins, isOff } = await running.run(this.#projects, this.#terminal);
    this.#running = undefined;
    const mayStay = this.#mayStay && !wasLeft && !hasPlugins && !isOff;
    // The next call of the same caller finds this process.
    if (mayStay) this.#wait();
    else this.#end();
    say<FromHost>(control, { exit });
    control.end();
    // The caller waits no more.
    setEnvironment(this.#ownEnv);
    if (mayStay && process.memoryUsage.rss() > MAX_RSS_BYTES) this.#end();
  }
}

/** Loads what runs need, so that the first call does not wait for it. */
async function prepare(): Promise<void> {
  await Promise.all([
    import('../operations/run/start-tool.ts'),
    import('../operations/run/run-inline.ts'),
    import('../operations/run/run-result.ts'),
  ]);
}

/** The environment of this process becomes that of the caller, for the few places that read it there. */
function setEnvironment(env: Readonly<Record<string, string | undefined>>): void {
  for (const name of Object.keys(process.env)) if (env[name] === undefined) delete process.env[name];
  for (const [name, value] of Object.entries(env)) if (value !== undefined) process.env[name] = value;
}

/** Changes when the program is replaced. */
function programNow(): string {
  const stats = statSync(process.execPath, { throwIfNoEntry: false });
  return `${stats?.dev}:${stats?.ino}:${stats?.mtimeMs}`;
}
