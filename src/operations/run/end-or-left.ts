import type { RunSummary } from '../../core/run/run-summary.ts';

/** The end of a run; undefined once `signal` aborts, because then the caller has stopped waiting, and the run continues. */
export async function endOrLeft(
  ended: Promise<RunSummary>,
  signal: AbortSignal,
): Promise<RunSummary | undefined> {
  const left = Promise.withResolvers<undefined>();
  const leave = () => left.resolve(undefined);
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  try {
    return await Promise.race([ended, left.promise]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
