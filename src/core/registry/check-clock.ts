import { TooCostly } from '../../protocol/too-costly.ts';

/** The processor time that one check may use. */
const MAX_CHECK_MS = 2_000;

const TICKS_BETWEEN = 64;

/**
 * Ends a check that computes for too long, because nothing else runs in the process meanwhile: no other caller, no deadline, no signal. The
 * check calls `tick` often. Time in which the machine was busy or asleep does not count.
 */
export class CheckClock {
  #ticks = 0;
  #startMs = 0;
  #startUsage = process.cpuUsage();

  /** Runs a check. Throws TooCostly. */
  run<T>(check: () => T): T {
    this.#startMs = performance.now();
    this.#startUsage = process.cpuUsage();
    return check();
  }

  readonly tick = (): void => {
    if (++this.#ticks % TICKS_BETWEEN !== 0 || performance.now() - this.#startMs < MAX_CHECK_MS) return;
    const { user, system } = process.cpuUsage(this.#startUsage);
    if (user + system < MAX_CHECK_MS * 1000) return;
    throw new TooCostly(
      `the check had not ended after ${MAX_CHECK_MS / 1000} s of processor time, which is all that it gets`,
    );
  };
}
