import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import type { ResourceLimits } from '../../../../protocol/resource-limits.ts';
import type { Exit } from '../../../process/runtime.ts';
import { TreeMeter } from '../../../process/tree-meter.ts';
import type { GroupPlace } from '../../../sandbox/groups/group-places.ts';
import type { RunGroups } from '../../../sandbox/groups/run-groups.ts';
import { isOkExit } from '../../outcome.ts';
import type { Ending, EndingRace } from '../ending.ts';
import { guardDisk } from '../guards/disk.ts';
import {
  guardCpu,
  guardMemory,
  guardProcesses,
  type UsageWatch,
  watchUsage,
} from '../guards/usage-limits.ts';
import type { LastMessage } from '../intake.ts';

/** Where a tool's last words stand in its output. */
const LAST_WORDS_BYTES = 4096;

export interface WatchedTool {
  rootPid: number;
  /** How many generations are the sandbox's own; without any, what has left the tree is looked for. */
  sandboxProcessDepth: number;
  strays: () => readonly number[];
  folders: readonly [string, ...string[]];
  diskEveryMs?: number;
}

/** Holds one attempt of a tool to its resource limits: groups of the kernel where they can be had, and a watch everywhere. */
export class ResourceWatch implements AsyncDisposable {
  readonly #limits: ResourceLimits;
  readonly #groups: RunGroups | undefined;
  #usage: UsageWatch | undefined;
  #stopDisk = () => {};

  private constructor(limits: ResourceLimits, groups: RunGroups | undefined) {
    this.#limits = limits;
    this.#groups = groups;
  }

  /** `places` is where groups may be made, `mayMove` whether this process may change to another one for their sake. */
  static async prepare(
    runId: string,
    limits: ResourceLimits,
    { places, mayMove }: { places: readonly GroupPlace[]; mayMove: boolean },
  ): Promise<ResourceWatch> {
    if (places.length === 0) return new ResourceWatch(limits, undefined);
    const { RunGroups } = await import('../../../sandbox/groups/run-groups.ts');
    return new ResourceWatch(limits, RunGroups.make(runId, limits, { mayMove, places }));
  }

  /** By these the tool joins its groups when it is launched. */
  get groupFds(): readonly number[] {
    return this.#groups?.fds ?? [];
  }

  start(race: EndingRace, tool: WatchedTool): void {
    if (process.platform !== 'linux') return;
    const { cpu_seconds, memory_mb, processes, disk_mb } = this.#limits;
    const meter = new TreeMeter(tool);
    this.#usage = watchUsage(race, meter, [
      ...(memory_mb === undefined ? [] : [guardMemory(memory_mb)]),
      ...(cpu_seconds === undefined ? [] : [guardCpu(cpu_seconds)]),
      ...(processes === undefined ? [] : [guardProcesses(processes)]),
    ]);
    this.#stopDisk = guardDisk(race, {
      folders: tool.folders,
      limitMb: disk_mb,
      memoryFolders: () =>
        tool.sandboxProcessDepth === 0 || meter.anyPid === undefined
          ? []
          : ['/tmp', '/dev/shm']
              .map((folder) => ({ folder, seen: `/proc/${meter.anyPid}/root${folder}` }))
              // A privileged tool has those of the machine, which it shares with everybody.
              .filter(({ folder, seen }) => deviceOf(seen) !== deviceOf(folder))
              .map(({ seen }) => seen),
      ...(tool.diskEveryMs !== undefined && { everyMs: tool.diskEveryMs }),
    });
  }

  stop(): void {
    this.#usage?.stop();
    this.#stopDisk();
  }

  /** What a failure really was, when the tool failed by a limit that the kernel holds, and has not told of an error of its own. */
  async judge(
    ending: Ending,
    facts: {
      message: LastMessage | undefined;
      exitCodes: Readonly<Record<string, number>>;
      stderrLog: string;
    },
  ): Promise<Ending> {
    if (ending.kind !== 'exited' || saysWhy(facts.message)) return ending;
    const { rc } = ending.exit;
    if (rc !== null && isOkExit(rc, facts.exitCodes)) return ending;
    const { memory_mb } = this.#limits;
    if (memory_mb !== undefined && this.#groups?.ranOutOfMemory) {
      const how = 'was ended by the kernel, as its group of processes had no memory left';
      return { kind: 'over-limit', limit: 'memory_mb', used: null, allowed: memory_mb, how };
    }
    const { refusedLimit } = await import('./refused-limit.ts');
    return refusedLimit(ending.exit, lastWordsIn(facts.stderrLog), this.#limits) ?? ending;
  }

  /** The most memory that was seen so far of all processes together. */
  get peakBytes(): number | null {
    return this.#usage?.peakBytes ?? null;
  }

  /** The exit with what was seen here, where that is more than what the kernel tells of the largest process, or all there is. */
  measured(exit: Exit): Exit {
    if (this.#usage === undefined) return exit;
    const { peakBytes, cpuS } = this.#usage;
    const { max_rss_bytes, cpu_s } = exit.usage;
    const most = peakBytes === null ? max_rss_bytes : Math.max(peakBytes, max_rss_bytes ?? 0);
    return { ...exit, usage: { cpu_s: cpu_s ?? cpuS, max_rss_bytes: most } };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stop();
    await this.#groups?.remove();
  }
}

/** A code that says nothing is what adapters and SDKs give to a failure that nobody told of. */
function saysWhy(message: LastMessage | undefined): boolean {
  return message?.type === 'error' && !['E_TOOL_FAILED', 'E_UNKNOWN'].includes(String(message.code));
}

/** The end of a tool's words. */
export function lastWordsIn(path: string, maxBytes = LAST_WORDS_BYTES): string {
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, maxBytes));
    return bytes.toString('utf8', 0, readSync(fd, bytes, 0, bytes.length, size - bytes.length));
  } finally {
    closeSync(fd);
  }
}

/** Undefined when the folder is gone, or not for this user to see. */
function deviceOf(folder: string): number | undefined {
  try {
    return statSync(folder).dev;
  } catch {
    return undefined;
  }
}
