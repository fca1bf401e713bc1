import { release } from 'node:os';
import type { ResourceLimits } from '../../../protocol/resource-limits.ts';
import type { ProcessLimit } from '../launcher/launcher.ts';

/** Numbers of the resources as the kernel has them. */
const CPU = 0;
const FILE_SIZE = 1;
const DATA = 2;
const CORE = 4;
const PROCESSES = 6;
const OPEN_FILES = 7;
const MESSAGE_QUEUES = 12;

const MB = 1_000_000;
/** Runtimes reserve far more than they use: below this some do not even start. */
const LEAST_DATA_BYTES = 2 * 1024 ** 3;
const DEFAULT_PROCESSES = 512;
const DEFAULT_OPEN_FILES = 4096;

/**
 * Limits that the kernel holds each process to: the first net. What counts over all processes of a tool is another layer's matter.
 * `countsByRun` says that processes are counted for this run alone, not for everything of the user.
 */
export function processLimits(limits: ResourceLimits, options: { countsByRun: boolean }): ProcessLimit[] {
  const { cpu_seconds, memory_mb, processes, file_mb, open_files } = limits;
  return [
    [CORE, 0],
    [MESSAGE_QUEUES, 0],
    [OPEN_FILES, open_files ?? DEFAULT_OPEN_FILES],
    ...(cpu_seconds === undefined ? [] : [[CPU, Math.ceil(cpu_seconds)] as const]),
    ...(file_mb === undefined ? [] : [[FILE_SIZE, Math.ceil(file_mb * MB)] as const]),
    ...(memory_mb === undefined
      ? []
      : [[DATA, Math.max(2 * Math.ceil(memory_mb * MB), LEAST_DATA_BYTES)] as const]),
    ...(options.countsByRun ? [[PROCESSES, processes ?? DEFAULT_PROCESSES] as const] : []),
  ];
}

/** Whether the kernel counts the processes of each user namespace apart, as it does since 5.14. */
export function countsProcessesByNamespace(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}
