import type { Look } from './watch-usage.ts';

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
