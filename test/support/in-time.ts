/** Limits in seconds, tried one after the other. */
const LIMITS_S = [1, 8, 60] as const;

/**
 * For a test of what happens at a limit, for which something must be reached before: on a busy machine a program may not get there.
 * `attempt` returns undefined when it did not; then it is called with a later limit. The last one is later than any busy machine.
 */
export async function reachedInTime<T>(attempt: (limitS: number) => Promise<T | undefined>): Promise<T> {
  for (const limitS of LIMITS_S) {
    const reached = await attempt(limitS);
    if (reached !== undefined) return reached;
  }
  throw new Error(`nothing was reached within ${LIMITS_S.at(-1)} s`);
}
