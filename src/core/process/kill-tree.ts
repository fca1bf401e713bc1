import { pause } from '../../util/pause.ts';
import {
  adoptedOrOwnChildren,
  childrenOf,
  commandLineOf,
  environmentOf,
  isAlive,
  type ProcessInfo,
  readProcess,
} from '../../util/process-table.ts';
import { isInFolderOf, processesOfRun, type RunIdentity } from './run-processes.ts';
import type { Runtime } from './runtime.ts';

/** A process that could not be killed. */
export interface Survivor {
  pid: number;
  command: string;
}

const ROUND_MS = 5;
const KILL_ROUNDS = 400;
/** So often in a row the members of a tree are killed while there are others each time, because they fork and exit. */
const SHOTS = 50;
const MAX_LOOKS = 100;
/** About half a second: a launcher reports how the tool ended, and exits. */
const MAX_SHOTS_AT_NONE = 200;

/** All processes that a tool started, including those that used `setsid`, double forks, or became orphans. */
export class ProcessTree {
  readonly #rootPid: number;
  /** Distinguishes the root from a later process with the same pid; undefined when the root had already ended. */
  readonly #rootStart: number | undefined;
  readonly #run: RunIdentity;
  readonly #runtime: Runtime;
  readonly #adopts: boolean;
  readonly #sandboxProcessDepth: number;
  readonly #isProxyProcess: boolean;
  readonly #hasReaper: boolean;
  /** How often in a row there was nothing to kill but the sandbox. */
  #shotsAtNone = 0;
  #hasOrphanEnded = false;

  /**
   * `isProxyProcess`: the root is a proxy for a tool outside of its process tree. Only the proxy is signalled, and it
   * forwards signals.
   * `sandboxProcessDepth`: this many generations, from the root, belong to a sandbox around the tool. They are killed,
   * but never asked to end.
   * `hasReaper`: they are killed last, because all other members are only found below them.
   */
  constructor(
    runtime: Runtime,
    options: {
      rootPid: number;
      run: RunIdentity;
      adopts: boolean;
      sandboxProcessDepth?: number;
      isProxyProcess?: boolean;
      hasReaper?: boolean;
    },
  ) {
    this.#runtime = runtime;
    this.#rootPid = options.rootPid;
    this.#rootStart = readProcess(options.rootPid)?.startTime;
    this.#run = options.run;
    this.#adopts = options.adopts;
    this.#sandboxProcessDepth = options.sandboxProcessDepth ?? 0;
    this.#isProxyProcess = options.isProxyProcess ?? false;
    this.#hasReaper = options.hasReaper ?? false;
    if (!this.#adopts) return;
    ownChildren.add(options.rootPid);
    // Orphans of a proxy belong to the container engine, not to the tool.
    if (!this.#isProxyProcess) takers.add(this);
  }

  /**
   * The live processes of the run. A process that forks and exits again and again is always in its next generation when it is looked
   * for: when none is found but an orphan has just ended, this looks again.
   */
  members(): ProcessInfo[] {
    for (let look = 1; ; look++) {
      this.#hasOrphanEnded = false;
      const found = this.#membersNow();
      if (found.length > 0 || !this.#hasOrphanEnded || look === MAX_LOOKS) return found;
    }
  }

  #membersNow(): ProcessInfo[] {
    const found = new Map<number, ProcessInfo>();
    if (this.#root() !== undefined) this.#collect(this.#rootPid, found);
    const strays = takers.has(this) ? this.#adopted() : processesOfRun(this.#run);
    for (const pid of strays) {
      this.#collect(pid, found);
      if (pid !== process.pid && !found.has(pid)) this.#hasOrphanEnded = true;
    }
    return [...found.values()];
  }

  /** Orphaned members, where they can be found without a search through all processes. */
  orphans(): number[] {
    return this.#adopts && this.#sandboxProcessDepth === 0 ? this.#adopted() : [];
  }

  /** The tool's root process. Undefined after its end, because another process may have its pid. */
  #root(): ProcessInfo | undefined {
    const info = readProcess(this.#rootPid);
    return info?.startTime === this.#rootStart ? info : undefined;
  }

  /** The processes of the sandbox around the tool: one per generation. */
  #sandboxPids(): number[] {
    const pids: number[] = [];
    for (let pid = this.#root()?.pid; pid !== undefined && pids.length < this.#sandboxProcessDepth; ) {
      pids.push(pid);
      [pid] = childrenOf(pid);
    }
    return pids;
  }

  /** Signals every member, and the tool's process group. */
  signal(name: NodeJS.Signals): void {
    if (name !== 'SIGKILL' && this.#isProxyProcess) {
      send(this.#rootPid, name);
      return;
    }
    const around = this.#sandboxPids();
    if (name !== 'SIGKILL' && this.#sandboxProcessDepth > 0) {
      this.#ask(name, around);
      return;
    }
    if (this.#hasReaper) {
      this.#killBelow(around);
      return;
    }
    // Killing the innermost one kills everything in the sandbox at once.
    for (const pid of around.toReversed()) send(pid, name);
    const members = this.members();
    const leader = this.#root();
    // The kernel may reuse a group id once its leader has ended, so the group is only signalled while its leader lives.
    if (leader !== undefined && isAlive(leader) && leader.groupId === this.#rootPid)
      send(-this.#rootPid, name);
    else if (process.platform !== 'linux') send(-this.#rootPid, name);
    for (const member of members) send(member.pid, name);
  }

  /**
   * Signals the tool but not the sandbox: the first process of a PID namespace leads the tool's group and ignores
   * signals without a handler.
   */
  #ask(name: NodeJS.Signals, around: readonly number[]): void {
    const innermost = around.length === this.#sandboxProcessDepth ? around.at(-1) : undefined;
    const leader = innermost === undefined ? undefined : readProcess(innermost);
    if (leader !== undefined && isAlive(leader) && leader.groupId === innermost) send(-innermost, name);
    for (const { pid } of this.members()) if (!around.includes(pid)) send(pid, name);
  }

  /** Kills all but the sandbox, which ends by itself then; the sandbox as well when it does not. */
  #killBelow(around: readonly number[]): void {
    const others = this.members().filter(({ pid }) => !around.includes(pid));
    this.#shotsAtNone = others.length === 0 ? this.#shotsAtNone + 1 : 0;
    for (const { pid } of others) send(pid, 'SIGKILL');
    if (this.#shotsAtNone > MAX_SHOTS_AT_NONE) for (const pid of around) send(pid, 'SIGKILL');
  }

  /** Kills until no member is left. Returns the processes that could not be killed. */
  async kill(): Promise<Survivor[]> {
    for (let round = 0; round < KILL_ROUNDS; round++) {
      this.#killWhileChanging();
      await pause(ROUND_MS);
      if (this.members().length === 0) return [];
    }
    return this.members().map(({ pid }) => ({ pid, command: commandLineOf(pid) }));
  }

  #killWhileChanging(): void {
    let before = '';
    for (let shot = 0; shot < SHOTS; shot++) {
      this.signal('SIGKILL');
      const pids = this.members()
        .map(({ pid }) => pid)
        .join();
      if (pids === before) return;
      before = pids;
    }
  }

  /** Forgets the tool's process; call it after the run. */
  release(): void {
    ownChildren.delete(this.#rootPid);
    takers.delete(this);
  }

  #collect(pid: number, found: Map<number, ProcessInfo>): void {
    if (found.has(pid) || pid === process.pid) return;
    const info = readProcess(pid);
    if (info === undefined) return;
    if (isAlive(info)) found.set(pid, info);
    for (const child of childrenOf(pid)) this.#collect(child, found);
  }

  /** Orphans that became children of this process, without those of another run. */
  #adopted(): number[] {
    const mine: number[] = [];
    for (const pid of adoptedOrOwnChildren()) {
      if (ownChildren.has(pid)) continue;
      const info = readProcess(pid);
      if (info === undefined || !isAlive(info)) {
        if (info !== undefined) this.#runtime.reap(pid);
        nameless.delete(pid);
        this.#hasOrphanEnded = true;
        continue;
      }
      if (takerOf(info) === this) mine.push(pid);
    }
    return mine;
  }

  /** Whether the environment of a process names the run of this tree. */
  isNamedBy(pid: number): boolean {
    return environmentOf(pid, 'RUN_ID') === this.#run.runId && isInFolderOf(pid, this.#run);
  }
}

/** The trees at work in this process that take orphans. */
const takers = new Set<ProcessTree>();

/**
 * Orphans that name no run at work, because they cleared or changed their environment, by pid: with the trees that were at work when each
 * was first seen. It belongs to one of them, and nothing shows to which, so that it ends with the last of them.
 */
const nameless = new Map<number, { startTime: number; trees: readonly ProcessTree[] }>();

/** The tree that ends this orphan; undefined while several may be the one that it belongs to. */
function takerOf({ pid, startTime }: ProcessInfo): ProcessTree | undefined {
  const named = [...takers].find((tree) => tree.isNamedBy(pid));
  if (named !== undefined) return named;
  let seen = nameless.get(pid);
  if (seen?.startTime !== startTime) {
    seen = { startTime, trees: [...takers] };
    nameless.set(pid, seen);
  }
  const left = seen.trees.filter((tree) => takers.has(tree));
  return left.length === 1 ? left[0] : undefined;
}

/** Children that this process started itself: tools and companions. All other children were adopted. */
const ownChildren = new Set<number>();

/** Registers a child that is not an orphan, such as a watchdog. */
export function registerCompanion(pid: number): void {
  ownChildren.add(pid);
}

/** Removes a companion that has ended. */
export function forgetCompanion(pid: number): void {
  ownChildren.delete(pid);
}

/** Sends a signal to a process that may have ended. */
export function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // Already gone.
  }
}
