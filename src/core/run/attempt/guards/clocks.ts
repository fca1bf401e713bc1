import type { Ending, EndingRace } from '../ending.ts';
import { after, type StopGuard } from './guard.ts';

/** What a busy machine may add to `stopMs` before another process kills the tool. */
export const STOP_MARGIN_MS = 2000;

/** How long a supervisor takes at most to stop a tool: a grace period before SIGTERM, and one before SIGKILL. */
export function stopMs(cancelGraceS: number): number {
  return 2 * cancelGraceS * 1000;
}

/** A guard whose clock can stop: call `look` when the clock runs again. */
export interface DeadlineGuard {
  stop: StopGuard;
  /** The ending of an attempt at its deadline. */
  ending(): Ending;
  look(): void;
}

/**
 * Ends the attempt at the deadline of the run (E_DEADLINE, E_TIMEOUT). While the clock is stopped, the deadline moves.
 * `onMoved` gets the time that is left whenever it is set; undefined while the clock is stopped.
 */
export function guardDeadline(
  race: EndingRace,
  options: {
    leftMs: () => number;
    isClockStopped: () => boolean;
    timeoutS: number;
    isOutputClosed: () => boolean;
    /** The action of the question that the tool waits for. */
    question: () => string | undefined;
    onMoved?: (leftMs: number | undefined) => void;
  },
): DeadlineGuard {
  let stop: StopGuard = () => {};
  const look = () => {
    stop();
    if (options.isClockStopped()) {
      options.onMoved?.(undefined);
      return;
    }
    const leftMs = options.leftMs();
    if (leftMs > 0) {
      stop = after(leftMs, look);
      options.onMoved?.(leftMs);
    } else race.end(ending());
  };
  const ending = (): Ending => ({
    kind: 'deadline',
    timeoutS: options.timeoutS,
    outputClosed: options.isOutputClosed(),
    question: options.question(),
  });
  look();
  return { stop: () => stop(), look, ending };
}

/** Ends the attempt when the tool sends no event for longer than the grace period (E_HEARTBEAT_MISSED). */
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

/** Reports each stall once: no `progress` for longer than `stallS`. It does not end the attempt. */
export function guardStall(options: {
  stallS: number;
  lastProgressMs: () => number;
  onStall: (stalledForS: number) => void;
}): StopGuard {
  const stallMs = options.stallS * 1000;
  let stallReportedAt = -1;
  let stop: StopGuard;
  const look = () => {
    const last = options.lastProgressMs();
    const stalledMs = performance.now() - last;
    if (stalledMs >= stallMs && stallReportedAt !== last) {
      stallReportedAt = last;
      options.onStall(stalledMs / 1000);
    }
    stop = after(stalledMs >= stallMs ? stallMs : stallMs - stalledMs, look);
  };
  stop = after(stallMs, look);
  return () => stop();
}
