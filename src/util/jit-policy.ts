/** How long a process works before compiled code pays for its compilation. */
const SHORT_LIFE_MS = 300;

/**
 * Gives a process that lives on the normal policy of the JIT compiler. A compiled program starts with thresholds that are many times as high
 * (`--compile-jit-policy` in `scripts/build-program.sh`): most commands end before their compiled code would be of use.
 */
export function expectShortLife(): void {
  if (process.versions.bun === undefined) return;
  setTimeout(() => Bun.unsafe.setJITPolicy(1), SHORT_LIFE_MS).unref();
}
