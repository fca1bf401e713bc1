import type { EndingRace } from '../ending.ts';
import { after, type StopGuard } from './guard.ts';

/** A guard whose clock may stand still: `look` is to be called when it goes on. */
export interface DeadlineGuard {
  stop: StopGuard;
  look(): void;
}

/**
 * Ends the attempt when the time of the run is up, whatever the tool does or leaves undone (E_DEADLINE, E_TIMEOUT). While
 * the clock stands still nothing is up, and what is left may grow.
 */
export function guardDeadline(
  race: EndingRace,
  options: {
    leftMs: () => number;
    standsStill: () => boolean;
    timeoutS: number;
    isOutputClosed: () => boolean;
  },
): DeadlineGuard {
  let stop: StopGuard = () => {};
  const look = () => {
    stop();
    if (options.standsStill()) return;
    const leftMs = options.leftMs();
    if (leftMs > 0) stop = after(leftMs, look);
    else race.end({ kind: 'deadline', timeoutS: options.timeoutS, outputClosed: options.isOutputClosed() });
  };
  look();
  return { stop: () => stop(), look };
}
