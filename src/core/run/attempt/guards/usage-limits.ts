import type { TreeMeter, TreeUsage } from '../../../process/tree-meter.ts';
import type { EndingRace } from '../ending.ts';
import type { OverLimit } from '../resources/over-limit.ts';
import type { StopGuard } from './guard.ts';

const MB = 1_000_000;
/** The guard reads the exact memory again once the resident memory has grown by this factor. */
const GROWTH = 1.05;
const SOON_MS = 20;
const AT_WORK_MS = 50;
const IDLE_MS = 200;
const SLOWER = 1.5;
/** Measuring takes at most 1/30 of one processor, however large the process tree is. */
const COST_SHARE = 30;
/** Smaller changes do not count as work. */
const CHANGE_BYTES = 1_000_000;
const CHANGE_CPU_S = 0.01;

/** The check of one limit on the total usage of all processes. */
export interface Look {
  /** Whether the limit could be exceeded soon, so that usage is measured more often. */
  isNear(usage: TreeUsage): boolean;
  look(usage: TreeUsage, meter: TreeMeter): OverLimit | undefined;
}

export interface UsageWatch {
  /** The highest measured memory; null before the first measurement. */
  readonly peakBytes: number | null;
  /** Null before the first measurement. */
  readonly cpuS: number | null;
  stop: StopGuard;
}

/**
 * Measures the usage of the tool's processes, on one timer for all limits: every 50 ms while they work, more often near a limit, less
 * often while they are idle. The first exceeded limit ends the attempt.
 */
export function watchUsage(race: EndingRace, meter: TreeMeter, looks: readonly Look[]): UsageWatch {
  let timer: NodeJS.Timeout;
  let peakBytes: number | null = null;
  let cpuS: number | null = null;
  let delayMs = SOON_MS;
  let last: TreeUsage = { rssBytes: 0, cpuS: 0, processes: 0 };
  const tick = () => {
    const begunMs = performance.now();
    const usage = meter.measure();
    cpuS = usage.cpuS;
    if (usage.processes > 0) peakBytes = Math.max(peakBytes ?? 0, usage.rssBytes);
    for (const each of looks) {
      const over = each.look(usage, meter);
      if (over === undefined) continue;
      race.end(over);
      return;
    }
    const isIdle = isSame(usage, last);
    last = usage;
    if (looks.some((each) => each.isNear(usage)) && !isIdle) delayMs = SOON_MS;
    else delayMs = isIdle ? Math.min(IDLE_MS, delayMs * SLOWER) : AT_WORK_MS;
    timer = setTimeout(tick, Math.max(delayMs, (performance.now() - begunMs) * COST_SHARE));
  };
  timer = setTimeout(tick, SOON_MS);
  return {
    get peakBytes() {
      return peakBytes;
    },
    get cpuS() {
      return cpuS;
    },
    stop: () => clearTimeout(timer),
  };
}

/**
 * Limits the memory of all processes together (E_MEMORY_LIMIT). Resident memory is cheap to read and never too low, but counts the
 * pages that forked workers share once for each worker. So before the guard ends the attempt, it reads the kernel's exact figure, in
 * which a shared page counts once.
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

/** Limits the CPU time of all processes together, including those that have ended (E_CPU_LIMIT). */
export function guardCpu(limitS: number): Look {
  return {
    isNear: () => false,
    look: ({ cpuS }) =>
      cpuS <= limitS ? undefined : { kind: 'over-limit', limit: 'cpu_seconds', used: cpuS, allowed: limitS },
  };
}

/** Limits the number of processes (E_PROCESS_LIMIT). The kernel's own limit counts threads and is far higher. */
export function guardProcesses(limit: number): Look {
  return {
    isNear: ({ processes }) => processes > limit / 2,
    look: ({ processes }) =>
      processes <= limit
        ? undefined
        : { kind: 'over-limit', limit: 'processes', used: processes, allowed: limit },
  };
}

function isSame(now: TreeUsage, last: TreeUsage): boolean {
  return (
    Math.abs(now.rssBytes - last.rssBytes) < CHANGE_BYTES &&
    now.cpuS - last.cpuS < CHANGE_CPU_S &&
    now.processes === last.processes
  );
}
