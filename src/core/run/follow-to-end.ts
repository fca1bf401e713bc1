import type { RunRecord } from '../../protocol/run-record.ts';
import { isFinal } from '../../protocol/run-state.ts';
import { countLines, followEvents } from '../store-files/follow.ts';
import { summariseLog } from '../store-files/log-summary.ts';
import { isLive, isLost } from '../store-files/lost-runs.ts';
import type { RunStore } from '../store-files/run-store.ts';
import { settled } from './recover-lost-run.ts';

/** The death of a supervisor wakes no follower: the followers check from time to time, not at each change of the log. */
const LIVENESS_CHECK_MS = 500;
const ROUND_MS = 5;

/**
 * Follows the log of a run, whatever process supervises it, from any `seq` on and in whole lines, to the event that ends the run. When the
 * supervisor is lost, it first recovers the run. `isEnough` is asked while no event comes.
 */
export async function* followToEnd(
  store: RunStore,
  runId: string,
  options: { since: number; signal?: AbortSignal | undefined; isEnough?: () => boolean },
): AsyncGenerator<Uint8Array> {
  const { signal, isEnough = () => false } = options;
  let checkedAtMs = Number.NEGATIVE_INFINITY;
  const isAbandoned = () => {
    if (isEnough()) return true;
    const nowMs = performance.now();
    if (nowMs - checkedAtMs < LIVENESS_CHECK_MS) return false;
    checkedAtMs = nowMs;
    return !isLive(store.read(runId));
  };
  const follow = { wait: true, isAbandoned, ...(signal && { signal }) };
  let seen = options.since;
  for (;;) {
    for await (const lines of followEvents(store.layout(runId).events, { ...follow, since: seen })) {
      seen += countLines(lines);
      yield lines;
    }
    if (signal?.aborted || isEnough()) return;
    // The store cannot be written, so the log gets no end.
    if (isLost(await settled(store, runId))) return;
    const { lastEvent } = summariseLog(store.layout(runId).events);
    if (Number(lastEvent?.seq ?? 0) <= seen) return;
  }
}

/** The record of a run that was followed to its end. Its supervisor writes the record just after the log: this waits for it. */
export async function endedRecord(store: RunStore, runId: string): Promise<RunRecord> {
  for (;;) {
    const record = await settled(store, runId);
    const isComing = !isFinal(record.state) && !isLost(record);
    if (!isComing || summariseLog(store.layout(runId).events).end === undefined) return record;
    await new Promise((resolve) => setTimeout(resolve, ROUND_MS));
  }
}
