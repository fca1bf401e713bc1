import { TooCostly } from '../../protocol/too-costly.ts';

/** The processor time of one check of what a tool returns, or a schema says. */
const MAX_CHECK_MS = 2_000;

/** That of the inputs of a call, which a server checks while its other callers wait. */
export const MAX_INPUTS_MS = 500;

const TICKS_BETWEEN = 64;

/**
 * Ends a check that computes for too long, because nothing else runs in the process meanwhile: no other caller, no deadline, no signal. The
 * check calls `tick` often. Time in which the machine was busy or asleep does not count.
 */
export class CheckClock {
  #ticks = 0;
  #startMs = 0;
  #maxMs = MAX_CHECK_MS;
  #startUsage = process.cpuUsage();

  /** Runs a check. Throws TooCostly. */
  run<T>(check: () => T, maxMs = MAX_CHECK_MS): T {
    this.#maxMs = maxMs;
    this.#startMs = performance.now();
    this.#startUsage = process.cpuUsage();
    return check();
  }

  readonly tick = (): void => {
    if (++this.#ticks % TICKS_BETWEEN !== 0 || performance.now() - this.#startMs < this.#maxMs) return;
    const { user, system } = process.cpuUsage(this.#startUsage);
    if (user + system < this.#maxMs * 1000) return;
    throw new TooCostly(
      `the check had not ended after ${this.#maxMs / 1000} s of processor time, which is all that it gets`,
    );
  };
}
