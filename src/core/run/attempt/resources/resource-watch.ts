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

/** The last messages of a tool are in this many bytes at the end of its output. */
const LAST_WORDS_BYTES = 4096;

export interface WatchedTool {
  rootPid: number;
  /** How many generations of processes belong to the sandbox; without any, processes that left the tree are searched for. */
  sandboxProcessDepth: number;
  strays: () => readonly number[];
  folders: readonly [string, ...string[]];
  diskEveryMs?: number;
}

/** Enforces the resource limits of one attempt of a tool: by control groups where they are available, and by measuring everywhere. */
export class ResourceWatch implements AsyncDisposable {
  readonly #limits: ResourceLimits;
  readonly #groups: RunGroups | undefined;
  #usage: UsageWatch | undefined;
  #stopDisk = () => {};

  private constructor(limits: ResourceLimits, groups: RunGroups | undefined) {
    this.#limits = limits;
    this.#groups = groups;
  }

  /** `places` is where groups may be made; `mayMove`, whether this process may move to another group for them. */
  static async prepare(
    runId: string,
    limits: ResourceLimits,
    { places, mayMove }: { places: readonly GroupPlace[]; mayMove: boolean },
  ): Promise<ResourceWatch> {
    if (places.length === 0) return new ResourceWatch(limits, undefined);
    const { RunGroups } = await import('../../../sandbox/groups/run-groups.ts');
    return new ResourceWatch(limits, RunGroups.make(runId, limits, { mayMove, places }));
  }

  /** The descriptors by which the tool joins its groups when it starts. */
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
              // A privileged tool has those of the machine, which all programs share.
              .filter(({ folder, seen }) => deviceOf(seen) !== deviceOf(folder))
              .map(({ seen }) => seen),
      ...(tool.diskEveryMs !== undefined && { everyMs: tool.diskEveryMs }),
    });
  }

  stop(): void {
    this.#usage?.stop();
    this.#stopDisk();
  }

  /** The limit that a failed tool exceeded, when the kernel enforces it and the tool reported no error of its own; else the ending as it is. */
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

  /** The most memory that all processes together used so far. */
  get peakBytes(): number | null {
    return this.#usage?.peakBytes ?? null;
  }

  /** The exit with the usage measured here, where the kernel reports less (only its largest process) or nothing. */
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

/** Whether the tool reported a specific error: adapters and SDKs use the excluded codes for failures without one. */
function saysWhy(message: LastMessage | undefined): boolean {
  return message?.type === 'error' && !['E_TOOL_FAILED', 'E_UNKNOWN'].includes(String(message.code));
}

/** The end of a tool's output. */
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

/** Undefined when the folder is gone, or this user may not see it. */
function deviceOf(folder: string): number | undefined {
  try {
    return statSync(folder).dev;
  } catch {
    return undefined;
  }
}
