import type { TreeMeter, TreeUsage } from '../../../process/tree-meter.ts';
import type { EndingRace } from '../ending.ts';
import type { OverLimit } from '../resources/over-limit.ts';
import type { StopGuard } from './guard.ts';

/** One limit on what all processes use together. */
export interface Look {
  /** Whether the limit could be passed soon, so that it is worth looking more often. */
  isNear(usage: TreeUsage): boolean;
  look(usage: TreeUsage, meter: TreeMeter): OverLimit | undefined;
}

const SOON_MS = 20;
const AT_WORK_MS = 50;
const IDLE_MS = 200;
const SLOWER = 1.5;
/** The watch takes at most one part in this many of a processor, however large the tree is. */
const COST_SHARE = 30;
/** Less than this is no sign of work. */
const CHANGE_BYTES = 1_000_000;
const CHANGE_CPU_S = 0.01;

export interface UsageWatch {
  /** The most memory that was seen at one moment; null when nothing was seen. */
  readonly peakBytes: number | null;
  /** Null when nothing was seen. */
  readonly cpuS: number | null;
  stop: StopGuard;
}

/**
 * Looks at what the tool's processes use, on one timer for all limits: every 50 ms while they work, more often near a limit, less often while
 * they idle. The first limit passed ends the attempt.
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

function isSame(now: TreeUsage, last: TreeUsage): boolean {
  return (
    Math.abs(now.rssBytes - last.rssBytes) < CHANGE_BYTES &&
    now.cpuS - last.cpuS < CHANGE_CPU_S &&
    now.processes === last.processes
  );
}
