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
