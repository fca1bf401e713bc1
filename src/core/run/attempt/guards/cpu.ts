import type { Look } from './watch-usage.ts';

/** Holds the processor time of all processes together to a limit, those that have ended included (E_CPU_LIMIT). */
export function guardCpu(limitS: number): Look {
  return {
    isNear: () => false,
    look: ({ cpuS }) =>
      cpuS <= limitS ? undefined : { kind: 'over-limit', limit: 'cpu_seconds', used: cpuS, allowed: limitS },
  };
}
