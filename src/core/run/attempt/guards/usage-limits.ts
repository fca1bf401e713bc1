import type { Look } from './watch-usage.ts';

const MB = 1_000_000;
/** The exact figure is looked up again once the tool has grown by this much. */
const GROWTH = 1.05;

/**
 * Holds the memory of all processes together to a limit (E_MEMORY_LIMIT). Resident memory is what one cheap read gives, and it is never
 * too little: while that is within the limit, all is well. Forked workers share most of it, so before anything is ended the kernel is asked
 * for the exact figure, in which a shared page counts once.
 */
export function guardMemory(limitMb: number): Look {
  const limit = limitMb * MB;
  let checkedAt = 0;
  return {
    isNear: ({ rssBytes }) => rssBytes > limit / 2,
    look({ rssBytes }, meter) {
      if (rssBytes <= limit) {
        checkedAt = 0;
        return undefined;
      }
      if (rssBytes < checkedAt * GROWTH) return undefined;
      const exact = meter.exactBytes();
      checkedAt = rssBytes;
      if (exact <= limit) return undefined;
      return { kind: 'over-limit', limit: 'memory_mb', used: exact / MB, allowed: limitMb };
    },
  };
}

/** Holds the processor time of all processes together to a limit, those that have ended included (E_CPU_LIMIT). */
export function guardCpu(limitS: number): Look {
  return {
    isNear: () => false,
    look: ({ cpuS }) =>
      cpuS <= limitS ? undefined : { kind: 'over-limit', limit: 'cpu_seconds', used: cpuS, allowed: limitS },
  };
}

/** Holds the number of processes to a limit (E_PROCESS_LIMIT). The kernel's own limit behind it counts threads, and is far wider. */
export function guardProcesses(limit: number): Look {
  return {
    isNear: ({ processes }) => processes > limit / 2,
    look: ({ processes }) =>
      processes <= limit
        ? undefined
        : { kind: 'over-limit', limit: 'processes', used: processes, allowed: limit },
  };
}
