import { after, type StopGuard } from './guard.ts';

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
