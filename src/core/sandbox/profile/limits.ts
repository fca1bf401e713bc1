import type { ResourceLimits } from '../../../protocol/resource-limits.ts';
import { kernelRelease, processors } from '../../../util/system.ts';
import type { ProcessLimit } from '../launcher/launch-steps.ts';

/** The kernel's resource numbers. */
const CPU = 0;
const FILE_SIZE = 1;
const DATA = 2;
const CORE = 4;
const PROCESSES = 6;
const OPEN_FILES = 7;
const LOCKED_MEMORY = 8;
const MESSAGE_QUEUES = 12;

const MB = 1_000_000;
/** Runtimes reserve far more address space than they use, and below this value some do not start. */
const LEAST_DATA_BYTES = 2 * 1024 ** 3;
/** With 0 the kernel still starts a program that `core_pattern` names, outside of the sandbox; with 1 it neither does nor writes a file. */
const LEAST_CORE_BYTES = 1;
const LOCKED_MEMORY_BYTES = 64 * 1024;
/** The kernel counts threads, and a runtime starts more of them on more processors. */
const THREADS_A_PROCESS = 4;
const THREADS_A_PROCESSOR = 32;
/** The watch over the whole tree acts first, because it can report the reason. */
const CPU_MARGIN_S = 2;

/**
 * Limits that the kernel enforces for each process. They are the back stop for the runner's watch over all processes of
 * a tool. `countsByRun`: the kernel counts processes of this run alone, not all of the user's.
 */
export function processLimits(limits: ResourceLimits, options: { countsByRun: boolean }): ProcessLimit[] {
  const { cpu_seconds, memory_mb, processes, open_files } = limits;
  const fileMb = largestFileMb(limits);
  return [
    [CORE, LEAST_CORE_BYTES],
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

/** No file may be larger than the limit on all files together. */
export function largestFileMb({ file_mb, disk_mb }: ResourceLimits): number | undefined {
  return file_mb ?? disk_mb;
}

/** The number of threads that this many processes may have together. */
export function tasksFor(processes: number): number {
  return processes * THREADS_A_PROCESS + processors() * THREADS_A_PROCESSOR;
}

/** Whether the kernel counts processes per user namespace, as it does since 5.14. */
export function countsProcessesByNamespace(): boolean {
  const [major = 0, minor = 0] = kernelRelease().split('.').map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}
