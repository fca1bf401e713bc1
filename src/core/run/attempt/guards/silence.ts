import type { EndingRace } from '../ending.ts';
import { after, type StopGuard } from './guard.ts';

/** Ends the attempt when the tool has said nothing at all for too long (E_HEARTBEAT_MISSED). Any event counts as life. */
export function guardLiveness(
  race: EndingRace,
  options: { graceS: number; lastEventMs: () => number },
): StopGuard {
  const graceMs = options.graceS * 1000;
  let stop: StopGuard;
  const look = () => {
    const silentMs = performance.now() - options.lastEventMs();
    if (silentMs >= graceMs) race.end({ kind: 'silent', silentForS: silentMs / 1000 });
    else stop = after(graceMs - silentMs, look);
  };
  stop = after(graceMs, look);
  return () => stop();
}

/** Tells, once per stall, when nothing has moved forward for too long. Only progress counts; nothing is stopped. */
export function guardStall(options: {
  stallS: number;
  lastProgressMs: () => number;
  onStall: (stalledForS: number) => void;
}): StopGuard {
  const stallMs = options.stallS * 1000;
  let recordedOf = -1;
  let stop: StopGuard;
  const look = () => {
    const last = options.lastProgressMs();
    const stalledMs = performance.now() - last;
    if (stalledMs >= stallMs && recordedOf !== last) {
      recordedOf = last;
      options.onStall(stalledMs / 1000);
    }
    stop = after(stalledMs >= stallMs ? stallMs : stallMs - stalledMs, look);
  };
  stop = after(stallMs, look);
  return () => stop();
}
