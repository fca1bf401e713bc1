import type { RunRecord } from '../../protocol/run-record.ts';
import type { RunStore } from '../ports/run-store.ts';
import { countLines } from '../store-files/follow.ts';
import { isLive, livenessOf } from './liveness.ts';
import { lostEnding } from './lost-ending.ts';
import { endInLog } from './read-run.ts';
import type { RunHost, Workspaces } from './workspace.ts';

/** The death of a supervisor wakes no follower: the followers check from time to time, not at each change of the log. */
const LIVENESS_CHECK_MS = 500;
const ROUND_MS = 5;

export interface FollowToEnd {
  /** Only events after this `seq`. */
  since: number;
  signal?: AbortSignal | undefined;
  /** Asked while no event comes: true when the follower has seen what it wanted. */
  isEnough?: () => boolean;
  /**
   * Recovers the run, as one of these workspaces, when it loses its supervisor, so that its log has an end. Left out for readers, which
   * write nothing.
   */
  recoversIn?: Workspaces | undefined;
}

/**
 * Follows the log of a run, whatever process supervises it, from any `seq` on and in whole lines, to the event that ends the run. For a
 * lost run that is not recovered, that event is `lostEnding`, which the log does not hold.
 */
export async function* followToEnd(
  store: RunStore,
  runId: string,
  { since, signal, isEnough = () => false, recoversIn }: FollowToEnd,
): AsyncGenerator<Uint8Array> {
  let checkedAtMs = Number.NEGATIVE_INFINITY;
  const isAbandoned = async () => {
    if (isEnough()) return true;
    const nowMs = performance.now();
    if (nowMs - checkedAtMs < LIVENESS_CHECK_MS) return false;
    checkedAtMs = nowMs;
    return !(await isLive(store, runId));
  };
  const follow = { wait: true, isAbandoned, ...(signal && { signal }) };
  let seen = since;
  // Of a log that was changed from outside, the last `seq` may be wrong: following it again must not repeat forever.
  let counted = 0;
  for (;;) {
    for await (const lines of store.follow(runId, { ...follow, since: seen })) {
      seen += countLines(lines);
      yield lines;
    }
    if (signal?.aborted) return;
    let isLost = (await livenessOf(store, runId)).liveness === 'lost';
    // A store that cannot be written gives the log no end either.
    if (isLost && recoversIn !== undefined)
      isLost = (await recovered({ store, workspaces: recoversIn }, runId)).lost === true;
    if (isEnough() && !isLost) return;
    // Another process may be recovering the run: what it has written is followed first.
    const count = (await store.extent(runId)).events;
    if (count > seen && count !== counted) {
      counted = count;
      continue;
    }
    if (isLost) yield lostEnding(store, runId);
    return;
  }
}

/** The record of a run that was followed to its end. Its supervisor writes the record after the log; a lost run is recovered. */
export async function endedRecord(host: RunHost, runId: string): Promise<RunRecord & { lost?: true }> {
  for (;;) {
    const { store } = host;
    const { record, liveness } = await livenessOf(store, runId);
    if (liveness === 'lost') return recovered(host, runId);
    if (liveness === 'ended' || (await endInLog(store, runId)) === undefined) return record;
    await new Promise((resolve) => setTimeout(resolve, ROUND_MS));
  }
}

async function recovered(host: RunHost, runId: string): Promise<RunRecord & { lost?: true }> {
  const { recoverRun } = await import('./recover-lost-run.ts');
  return recoverRun(host, runId);
}
