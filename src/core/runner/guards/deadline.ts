import type { EndingRace } from '../ending.ts';
import { after, type StopGuard } from './guard.ts';

/** Ends the attempt when the time of the run is up, whatever the tool does or leaves undone (E_DEADLINE, E_TIMEOUT). */
export function guardDeadline(
  race: EndingRace,
  options: { leftMs: number; timeoutS: number; isOutputClosed: () => boolean },
): StopGuard {
  return after(options.leftMs, () =>
    race.end({ kind: 'deadline', timeoutS: options.timeoutS, outputClosed: options.isOutputClosed() }),
  );
}
