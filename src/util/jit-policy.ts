/** The processor time after which compiled code pays for its compilation. */
const SHORT_LIFE_MS = 200;
const FIRST_LOOK_MS = 300;
const MOST_MS = 10_000;

/**
 * Gives a process that works for long the normal policy of the JIT compiler. A compiled program starts with thresholds that are many times as
 * high (`--compile-jit-policy` in `scripts/build-program.sh`): most commands end before their compiled code would be of use. Only processor
 * time counts: of many runs that start at once, each lives for seconds and works for less than a tenth of one.
 */
export function expectShortLife(lookAfterMs = FIRST_LOOK_MS): void {
  if (process.versions.bun === undefined) return;
  const look = () => {
    const { user, system } = process.cpuUsage();
    if (user + system >= SHORT_LIFE_MS * 1000) Bun.unsafe.setJITPolicy(1);
    else expectShortLife(Math.min(2 * lookAfterMs, MOST_MS));
  };
  setTimeout(look, lookAfterMs).unref();
}
