import { availableParallelism, release } from 'node:os';
import type { ResourceLimits } from '../../../protocol/resource-limits.ts';
import type { ProcessLimit } from '../launcher/launcher.ts';

/** Numbers of the resources as the kernel has them. */
const CPU = 0;
const FILE_SIZE = 1;
const DATA = 2;
const CORE = 4;
const PROCESSES = 6;
const OPEN_FILES = 7;
const LOCKED_MEMORY = 8;
const MESSAGE_QUEUES = 12;

const MB = 1_000_000;
/** Runtimes reserve far more than they use: below this some do not even start. */
const LEAST_DATA_BYTES = 2 * 1024 ** 3;
const LOCKED_MEMORY_BYTES = 64 * 1024;
/** The kernel counts threads, of which a runtime starts more the more processors there are. */
const THREADS_A_PROCESS = 4;
const THREADS_A_PROCESSOR = 32;
/** The watch over the whole tree comes first, and can say what happened. */
const CPU_MARGIN_S = 2;

/**
 * Limits that the kernel holds each process to: what a tool is refused at once, and a back stop for what the runner watches over all
 * processes of a tool together. `countsByRun` says that processes are counted for this run alone, not for everything of the user.
 */
export function processLimits(limits: ResourceLimits, options: { countsByRun: boolean }): ProcessLimit[] {
  const { cpu_seconds, memory_mb, processes, open_files } = limits;
  const fileMb = largestFileMb(limits);
  return [
    [CORE, 0],
    [MESSAGE_QUEUES, 0],
    [LOCKED_MEMORY, LOCKED_MEMORY_BYTES],
    ...(open_files === undefined ? [] : [[OPEN_FILES, open_files] as const]),
    ...(cpu_seconds === undefined ? [] : [[CPU, Math.ceil(cpu_seconds) + CPU_MARGIN_S] as const]),
    ...(fileMb === undefined ? [] : [[FILE_SIZE, Math.ceil(fileMb * MB)] as const]),
    ...(memory_mb === undefined
      ? []
      : [[DATA, Math.max(2 * Math.ceil(memory_mb * MB), LEAST_DATA_BYTES)] as const]),
    ...(options.countsByRun && processes !== undefined ? [[PROCESSES, tasksFor(processes)] as const] : []),
  ];
}

/** No file may be larger than all files together. */
export function largestFileMb({ file_mb, disk_mb }: ResourceLimits): number | undefined {
  return file_mb ?? disk_mb;
}

/** How many threads so many processes may have together. */
export function tasksFor(processes: number): number {
  return processes * THREADS_A_PROCESS + availableParallelism() * THREADS_A_PROCESSOR;
}

/** Whether the kernel counts the processes of each user namespace apart, as it does since 5.14. */
export function countsProcessesByNamespace(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}
