import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { ResourceLimits } from '../../../protocol/resource-limits.ts';
import { pause } from '../../../util/pause.ts';
import type { RunIdentity } from '../../process/run-processes.ts';
import { tasksFor } from '../profile/limits.ts';
import { type Controller, type GroupPlace, groupPlaces, SUPERVISORS } from './group-places.ts';

/**
 * The file by which a launcher joins a cgroup. It has one thread. In version 1 `tasks` takes one thread, and the kernel then moves
 * it without its lock over all groups of threads, for which `cgroup.procs` waits 8 ms (RCU). Version 2 has no such file.
 */
const ENTRY_FILES = { 1: 'tasks', 2: 'cgroup.procs' } as const;
const MB = 1_000_000;
const REMOVE_ROUNDS = 40;
const ROUND_MS = 5;

/**
 * The cgroups of one run's tool. The kernel enforces their limits at every moment, while the runner's watch checks at
 * intervals. When cgroups are unavailable, only the watch applies.
 */
export class RunGroups {
  /** The limits that they enforce. */
  readonly controllers: readonly Controller[];
  readonly #folders: string[];
  readonly #fds: number[];
  readonly #killedBefore: number;

  private constructor(made: { controllers: Controller[]; folders: string[]; fds: number[] }) {
    this.controllers = made.controllers;
    this.#folders = made.folders;
    this.#fds = made.fds;
    this.#killedBefore = this.#killed();
  }

  /** `name` is that of `groupNameOf`. `mayMove`: this process may move to another cgroup, which version 2 requires. */
  static make(
    name: string,
    limits: ResourceLimits,
    { mayMove, places = groupPlaces() }: { mayMove: boolean; places?: readonly GroupPlace[] },
  ): RunGroups {
    const made = { controllers: [] as Controller[], folders: [] as string[], fds: [] as number[] };
    for (const place of places) {
      const folder = join(place.folder, name);
      try {
        if (place.version === 2) openPlace(place, mayMove);
        mkdirSync(folder, { recursive: true });
        const controllers = setLimits(folder, place, limits);
        made.fds.push(openSync(join(folder, ENTRY_FILES[place.version]), 'w'));
        made.controllers.push(...controllers);
        made.folders.push(folder);
      } catch {
        remove(folder);
      }
    }
    return new RunGroups(made);
  }

  /** For a launch: the tool joins through these descriptors. */
  get fds(): readonly number[] {
    return this.#fds;
  }

  /** Whether the kernel killed a process of the tool because of the memory limit. */
  get ranOutOfMemory(): boolean {
    return this.#killed() > this.#killedBefore;
  }

  /** Removes the cgroups; the kernel needs a moment until the last process has ended. */
  async remove(): Promise<void> {
    for (const fd of this.#fds.splice(0)) closeSync(fd);
    for (let round = 0; round < REMOVE_ROUNDS; round++) {
      if (this.#folders.map(remove).every(Boolean)) return;
      await pause(ROUND_MS);
    }
  }

  #killed(): number {
    if (!this.controllers.includes('memory')) return 0;
    const texts = this.#folders.flatMap((folder) => [
      read(join(folder, 'memory.events')),
      read(join(folder, 'memory.oom_control')),
    ]);
    return texts.reduce((sum, text) => sum + Number(/^oom_kill (\d+)$/m.exec(text)?.[1] ?? 0), 0);
  }
}

/**
 * The name of the cgroups of a run. The inode of the run's folder distinguishes the same run in a copy of the store, by whatever path a
 * process knows the folder.
 */
export function groupNameOf({ runId, folder }: RunIdentity): string {
  return `${runId}.${statSync(folder, { throwIfNoEntry: false })?.ino ?? 0}`;
}

/** Removes the cgroups of a run whose supervisor has died, by the name of `groupNameOf`. */
export async function removeRunGroups(name: string): Promise<void> {
  for (const { folder } of groupPlaces()) {
    const group = join(folder, name);
    for (let round = 0; round < REMOVE_ROUNDS && !remove(group); round++) await pause(ROUND_MS);
  }
}

/** The controllers that are active in this folder. Throws when there are none. */
function setLimits(
  folder: string,
  { version, controllers }: GroupPlace,
  limits: ResourceLimits,
): Controller[] {
  const set = controllers.filter((controller) => {
    const value = controller === 'memory' ? limits.memory_mb : limits.processes;
    if (value === undefined) return false;
    if (controller === 'pids') return write(join(folder, 'pids.max'), tasksFor(value));
    const bytes = Math.ceil(value * MB);
    if (version === 2) {
      write(join(folder, 'memory.swap.max'), 0);
      return write(join(folder, 'memory.max'), bytes);
    }
    const isSet = write(join(folder, 'memory.limit_in_bytes'), bytes);
    write(join(folder, 'memory.memsw.limit_in_bytes'), bytes);
    return isSet;
  });
  if (set.length === 0) throw new Error('there is nothing that this group would limit');
  return set;
}

/** A version 2 cgroup with child cgroups contains no processes, so this process first moves to a child. */
function openPlace({ folder }: GroupPlace, mayMove: boolean): void {
  if (read(join(folder, 'cgroup.subtree_control')).includes('memory')) return;
  if (!mayMove) throw new Error('this process stays where it is');
  const supervisors = join(folder, SUPERVISORS);
  mkdirSync(supervisors, { recursive: true });
  writeFileSync(join(supervisors, 'cgroup.procs'), String(process.pid));
  for (const each of [dirname(folder), folder])
    writeFileSync(join(each, 'cgroup.subtree_control'), '+memory +pids');
}

/** True when it is removed. */
function remove(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return !existsSync(folder);
  }
}

function write(path: string, value: number): boolean {
  // Never create a file that the kernel does not provide.
  if (!existsSync(path)) return false;
  try {
    writeFileSync(path, String(value));
    return true;
  } catch {
    return false;
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
