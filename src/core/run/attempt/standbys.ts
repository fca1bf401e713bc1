import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { identify, isRunning } from '../../../util/process-table.ts';
import { refuseLinks } from '../../../util/regular-file.ts';
import type { Runtime, SpawnedProcess, SpawnRequest } from '../../process/runtime.ts';
import type { ForkServer } from '../../sandbox/launcher/fork-server.ts';
import type { ForkServerParts, StandbySource } from '../../sandbox/sandbox.ts';
import { readsAnswers } from '../may-ask.ts';
import type { ToolPlan } from '../plan/tool-plan.ts';
import { canEnterLater, type Forks, StandbyRun, type StandbyWish, warmStartOf } from './standby-run.ts';

/** When no run takes a sandbox for so long, all are ended. */
const IDLE_MS = 300_000;
const DAY_MS = 86_400_000;
const FOLDER = join('cache', 'standby');
/** Short tools have ended, and their runs too. */
const SOON_MS = 20;
/** So many sandboxes wait at most: those that were wanted last. */
const MOST = 4;
const MOST_SEEN = 64;

/**
 * The sandboxes of a process that supervises one run after the other. When a tool has run again, the sandbox of its next run is prepared, and
 * waits: namespaces, mounts and the launcher take longer than the start of most tools.
 */
export class Standbys implements Forks {
  readonly #waiting = new Map<string, StandbyRun>();
  readonly #idleMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** What has been run here, the latest last. */
  readonly #seen = new Set<string>();
  #isPreparing = false;
  #forkServer: Promise<ForkServer> | undefined;

  constructor(idleMs = IDLE_MS) {
    this.#idleMs = idleMs;
  }

  /** A sandbox that waits for a run like this one, with its folders moved to the place of the run's. Undefined when there is none. */
  async take(attempt: StandbyWish): Promise<StandbyRun | undefined> {
    if (this.#waiting.size === 0) return undefined;
    const source = await sourceFor(attempt);
    if (source === undefined) return undefined;
    const key = keyOf(attempt, source);
    const standby = this.#waiting.get(key);
    if (standby === undefined) return undefined;
    if (standby.hasEnded) {
      this.#end(key);
      return undefined;
    }
    if (!standby.isReady) return undefined;
    this.#waiting.delete(key);
    try {
      standby.adopt(attempt.plan.workspace, source);
      return standby;
    } catch {
      // Something has removed its folders.
      standby[Symbol.dispose]();
      return undefined;
    }
  }

  /** Prepares the sandbox of the next run like this one, when a short tool has ended: it must not wait for that. */
  prepareSoon(attempt: StandbyWish): void {
    setTimeout(() => void this.#prepareNext(attempt), SOON_MS).unref();
  }

  /** Starts a launcher as a fork of one that stays. Rejects when there can be none. */
  async fork(
    runtime: Runtime,
    parts: ForkServerParts,
    folder: string,
    request: SpawnRequest,
  ): Promise<SpawnedProcess> {
    this.#endWhenIdle();
    this.#forkServer ??= startForkServer(runtime, parts, folder);
    const server = this.#forkServer;
    try {
      return await (await server).spawn(request);
    } catch (error) {
      // The next run starts another one.
      const hasEnded = await server.then(
        (each) => each.hasEnded,
        () => true,
      );
      if (hasEnded && this.#forkServer === server) this.#forkServer = undefined;
      throw error;
    }
  }

  /** A failure leaves the next run to start its own. */
  async #prepareNext(attempt: StandbyWish): Promise<void> {
    const { plan, services } = attempt;
    if (this.#isPreparing) return;
    this.#isPreparing = true;
    try {
      const source = await sourceFor(attempt);
      if (source === undefined) return;
      const key = keyOf(attempt, source);
      if (this.#waiting.has(key) || !this.#isWorth(plan, key)) return;
      refuseLinks(services.workspaces.root, FOLDER);
      sweep(services);
      const parent = folderIn(services.workspaces.root);
      const folder = join(parent, nextName());
      this.#waiting.set(
        key,
        await StandbyRun.start(services.runtime, plan, source, { folder, hasInput: readsAnswers(attempt) }),
      );
      const [oldest] = this.#waiting;
      if (this.#waiting.size > MOST) this.#end(oldest![0]);
      this.#endWhenIdle();
    } catch {
      // The next run starts its own sandbox, and reports why it cannot.
    } finally {
      this.#isPreparing = false;
    }
  }

  /** Ends all, but no fork server whose tools are at work. */
  close(): void {
    clearTimeout(this.#timer);
    for (const key of [...this.#waiting.keys()]) this.#end(key);
    void this.#endForkServer();
  }

  async #endForkServer(): Promise<void> {
    const server = await this.#forkServer?.catch(() => undefined);
    if (server === undefined) return;
    if (server.isBusy) return this.#endWhenIdle();
    this.#forkServer = undefined;
    server.close();
  }

  /** A tool that has run twice will probably run again, and one that wants a warm start says so. */
  #isWorth(plan: ToolPlan, key: string): boolean {
    const wasSeen = this.#seen.delete(key);
    this.#seen.add(key);
    if (this.#seen.size > MOST_SEEN) this.#seen.delete(this.#seen.values().next().value!);
    return wasSeen || warmStartOf(plan) !== undefined;
  }

  #endWhenIdle(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.close(), this.#idleMs);
    this.#timer.unref();
  }

  #end(key: string): void {
    this.#waiting.get(key)?.[Symbol.dispose]();
    this.#waiting.delete(key);
  }
}

/** Removes the folders that processes have left which have died: each time, because one may live for days and be the only one. */
function sweep({ workspaces }: StandbyWish['services']): void {
  const parent = folderIn(workspaces.root);
  const own = `${ownName()}.`;
  for (const name of foldersIn(parent))
    if (!name.startsWith(own) && isLeft(parent, name))
      rmSync(join(parent, name), { recursive: true, force: true });
}

/** Loaded late: only a sandbox whose launcher is its first process needs it. */
async function startForkServer(...args: Parameters<typeof ForkServer.start>): Promise<ForkServer> {
  const { ForkServer } = await import('../../sandbox/launcher/fork-server.ts');
  return ForkServer.start(...args);
}

async function sourceFor(wish: StandbyWish): Promise<StandbySource | undefined> {
  return canEnterLater(wish) ? wish.plan.sandboxed.standby?.() : undefined;
}

/** A process that has read the tool's files is not for a tool with others. */
function keyOf(wish: StandbyWish, source: StandbySource): string {
  const warm = warmStartOf(wish.plan);
  const digest = warm === undefined ? null : wish.plan.digest;
  return JSON.stringify([readsAnswers(wish), digest, source.key(warm)]);
}

/** Where the folders are, beside the runs that get them. */
function folderIn(root: string): string {
  return join(root, FOLDER);
}

let count = 0;

/** The name of a folder, which says whose it is. */
function nextName(): string {
  return `${ownName()}.${count++}`;
}

/** What the names of all folders of this process begin with. */
function ownName(): string {
  const { pid, start_time, boot_id } = identify(process.pid);
  return [boot_id, pid, start_time].join('.');
}

/** Whether the process that made the folder has died. What another machine may have made is left for a day. */
function isLeft(parent: string, name: string): boolean {
  const [boot_id = '', pid, start] = name.split('.');
  if (boot_id !== identify(process.pid).boot_id) return isOld(join(parent, name));
  return !isRunning({ boot_id, pid: Number(pid), start_time: Number(start) });
}

function isOld(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && Date.now() - stats.mtimeMs > DAY_MS;
}

function foldersIn(parent: string): string[] {
  try {
    return readdirSync(parent);
  } catch {
    return [];
  }
}
