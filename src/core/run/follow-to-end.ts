import type { RunStore } from '../ports/run-store.ts';
import { countLines } from '../store-files/follow.ts';
import { isLive, livenessOf } from './liveness.ts';
import { eventCount } from './log-summary.ts';

export interface FollowToEnd {
  /** Only events after this `seq`. */
  since: number;
  signal?: AbortSignal | undefined;
  /** Asked while no events come: true when the follower has seen what it wanted. */
  isEnough?: () => boolean;
  /** A run that loses its supervisor is recovered, so that the log has an end. Left out for readers, which write nothing. */
  recovers?: boolean;
}

/** Follows the log of a run, whoever supervises it, in whole lines to the event that ends the run, or until the run is lost. */
export async function* followToEnd(
  store: RunStore,
  runId: string,
  { since, signal, isEnough = () => false, recovers = false }: FollowToEnd,
): AsyncGenerator<Uint8Array> {
  const isAbandoned = async () => isEnough() || !(await isLive(store, runId));
  const follow = { wait: true, isAbandoned, ...(signal && { signal }) };
  let seen = since;
  for (;;) {
    for await (const lines of store.follow(runId, { ...follow, since: seen })) {
      seen += countLines(lines);
      yield lines;
    }
    if (signal?.aborted || isEnough()) return;
    if ((await livenessOf(store, runId)).liveness === 'lost') {
      if (!recovers) return;
      const { recoverRun } = await import('./recover-lost-run.ts');
      // A store that cannot be written has no end to show.
      if ((await recoverRun(store, runId)).lost) return;
    }
    if ((await eventCount(store, runId)) <= seen) return;
  }
}
