import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import type { ResourceLimits } from '../../../../protocol/resource-limits.ts';
import type { RunIdentity } from '../../../process/run-processes.ts';
import type { Exit } from '../../../process/runtime.ts';
import { TreeMeter } from '../../../process/tree-meter.ts';
import type { GroupPlace } from '../../../sandbox/groups/group-places.ts';
import type { RunGroups } from '../../../sandbox/groups/run-groups.ts';
import { isOkExit } from '../../outcome.ts';
import { type Ending, type EndingRace, hasEndedItself } from '../ending.ts';
import { type DiskGuard, guardDisk } from '../guards/disk.ts';
import {
  guardCpu,
  guardMemory,
  guardProcesses,
  type UsageWatch,
  watchUsage,
} from '../guards/usage-limits.ts';
import type { LastMessage } from '../intake.ts';
import { refusedLimit } from './over-limit.ts';

/** How many bytes at the end of stderr are searched for the reason of a failure. */
const TAIL_BYTES = 4096;

export interface WatchedTool {
  rootPid: number;
  /** How many generations of processes belong to the sandbox. At 0, processes that left the tree are searched for. */
  sandboxProcessDepth: number;
  strays: () => readonly number[];
  folders: readonly [string, ...string[]];
  /** The size of the files that the runner copied into the folders. */
  copiedBytes: number;
  diskEveryMs?: number;
}

interface EndedTool {
  message: LastMessage | undefined;
  exitCodes: Readonly<Record<string, number>>;
  stderrLog: string;
}

/** Enforces the resource limits of one attempt of a tool: by control groups where they are available, and by measuring everywhere. */
export class ResourceWatch implements AsyncDisposable {
  readonly #limits: ResourceLimits;
  readonly #groups: RunGroups | undefined;
  #usage: UsageWatch | undefined;
  #disk: DiskGuard | undefined;

  private constructor(limits: ResourceLimits, groups: RunGroups | undefined) {
    this.#limits = limits;
    this.#groups = groups;
  }

  /** `places` is where groups may be made; `mayMove`, whether this process may move to another group for them. */
  static async prepare(
    run: RunIdentity,
    limits: ResourceLimits,
    { places, mayMove }: { places: readonly GroupPlace[]; mayMove: boolean },
  ): Promise<ResourceWatch> {
    if (places.length === 0) return new ResourceWatch(limits, undefined);
    const { groupNameOf, RunGroups } = await import('../../../sandbox/groups/run-groups.ts');
    return new ResourceWatch(limits, RunGroups.make(groupNameOf(run), limits, { mayMove, places }));
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
    this.#disk = guardDisk(race, {
      folders: tool.folders,
      limitMb: disk_mb === undefined ? undefined : disk_mb + Math.ceil(tool.copiedBytes / 1_000_000),
      memoryFolders: () =>
        tool.sandboxProcessDepth === 0 || meter.anyPid === undefined
          ? []
          : ['/tmp', '/dev/shm']
              .map((folder) => ({ folder, seen: `/proc/${meter.anyPid}/root${folder}` }))
              // A privileged tool uses the machine's folders, which all programs share: these are not measured.
              .filter(({ folder, seen }) => deviceOf(seen) !== deviceOf(folder))
              .map(({ seen }) => seen),
      ...(tool.diskEveryMs !== undefined && { everyMs: tool.diskEveryMs }),
    });
  }

  stop(): void {
    this.#usage?.stop();
    this.#disk?.stop();
  }

  /**
   * Replaces the ending of a tool that ended by itself and reported no specific error: by the limit that it exceeded when the kernel
   * enforced that and the tool failed, or by that of the disk, which may have come after the last look.
   */
  async judge(ending: Ending, facts: EndedTool): Promise<Ending> {
    if (!hasEndedItself(ending) || hasSpecificError(facts.message)) return ending;
    return this.#refused(ending, facts) ?? (await this.#disk?.lookAtEnd()) ?? ending;
  }

  #refused(ending: Ending, { exitCodes, stderrLog }: EndedTool): Ending | undefined {
    if (ending.kind !== 'exited') return undefined;
    const { rc } = ending.exit;
    if (rc !== null && isOkExit(rc, exitCodes)) return undefined;
    const { memory_mb } = this.#limits;
    if (memory_mb !== undefined && this.#groups?.ranOutOfMemory) {
      const how = 'was killed by the kernel, because its control group ran out of memory';
      return { kind: 'over-limit', limit: 'memory_mb', used: null, allowed: memory_mb, how };
    }
    return refusedLimit(ending.exit, readTail(stderrLog), this.#limits);
  }

  /** The highest memory usage so far of all processes together. */
  get peakBytes(): number | null {
    return this.#usage?.peakBytes ?? null;
  }

  /** Adds the measured usage to an exit, where the kernel reports less (only the largest process) or nothing. */
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
function hasSpecificError(message: LastMessage | undefined): boolean {
  return message?.type === 'error' && !['E_TOOL_FAILED', 'E_UNKNOWN'].includes(String(message.code));
}

/** Reads the end of a log of the tool's output. */
export function readTail(path: string, maxBytes = TAIL_BYTES): string {
  // A stream to which nothing was written has no log.
  if (!existsSync(path)) return '';
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    const bytes = Buffer.alloc(Math.min(size, maxBytes));
    return bytes.toString('utf8', 0, readSync(fd, bytes, 0, bytes.length, size - bytes.length));
  } finally {
    closeSync(fd);
  }
}

/** Undefined when the folder does not exist, or this user may not read it. */
function deviceOf(folder: string): number | undefined {
  try {
    return statSync(folder).dev;
  } catch {
    return undefined;
  }
}
