import type { RunRecord } from '../../protocol/run-record.ts';
import { PROTOCOL_VERSION } from '../../protocol/v1/wire.ts';
import { pause } from '../../util/pause.ts';
import type { RunStore } from '../ports/run-store.ts';
import { countLines, endsTheRun } from '../store-files/follow.ts';
import { SealBuilder } from '../store-files/seal.ts';
import { endInLog, isLive, livenessOf } from './read-run.ts';
import { stepsAfterLoss } from './steps-after.ts';
import type { RunHost, Workspaces } from './workspace.ts';
import { UNKNOWN_USAGE } from './write-ending.ts';

/** The death of a supervisor does not wake a follower, so followers poll for it at this interval. */
const LIVENESS_CHECK_MS = 500;
const ROUND_MS = 5;
/** How soon a follower notices that its reader may read no more. */
const READER_CHECK_MS = 1000;

interface FollowToEnd {
  /** Only events after this `seq`. */
  since: number;
  signal?: AbortSignal | undefined;
  /** Settles when the end of the run is in the store. */
  recorded?: Promise<unknown> | undefined;
  /** Called while no event comes; return true to stop following. */
  isEnough?: () => Promise<boolean>;
  /** Throws for a reader that may read no more. Called at intervals, whether events come or not. */
  checkReader?: (() => Promise<void>) | undefined;
  /**
   * When the run is lost, recover it in these workspaces, so that its log gets its last event. Absent for readers, which write nothing.
   */
  recoversIn?: Workspaces | undefined;
}

/**
 * Follows the log of a run from a `seq` on, in whole lines, to the event that ends the run, whatever process supervises it. For a lost
 * run that is not recovered, the last event is `lostEnding`, which is not in the log.
 */
export async function* followToEnd(
  store: RunStore,
  runId: string,
  {
    since,
    signal,
    recorded,
    isEnough = async () => false,
    checkReader = async () => {},
    recoversIn,
  }: FollowToEnd,
): AsyncGenerator<Uint8Array> {
  // A run whose end is reported has just been started, and its supervisor cannot die unnoticed.
  let checkedAtMs = recorded === undefined ? Number.NEGATIVE_INFINITY : performance.now();
  const checkNow = () => {
    checkedAtMs = Number.NEGATIVE_INFINITY;
  };
  void recorded?.then(checkNow);
  const checkInTime = atIntervals(READER_CHECK_MS, checkReader);
  const isAbandoned = async () => {
    await checkInTime();
    if (await isEnough()) return true;
    const nowMs = performance.now();
    if (nowMs - checkedAtMs < LIVENESS_CHECK_MS) return false;
    checkedAtMs = nowMs;
    return !(await isLive(store, runId));
  };
  const follow = { wait: true, isAbandoned, ...(signal && { signal }), ...(recorded && { recorded }) };
  let seen = since;
  // The last `seq` of a damaged log may be wrong: following it again must not repeat forever.
  let counted = 0;
  let hasRead = false;
  for (;;) {
    for await (const lines of store.follow(runId, { ...follow, since: seen })) {
      await checkInTime();
      seen += countLines(lines);
      hasRead = endsTheRun(lines);
      yield lines;
    }
    if (signal?.aborted) return;
    const { liveness } = await livenessOf(store, runId);
    if (hasRead && liveness === 'ended') return;
    let isLost = liveness === 'lost';
    // When the store cannot be written, the run stays lost and its log gets no last event.
    if (isLost && recoversIn !== undefined)
      isLost = (await recovered({ store, workspaces: recoversIn }, runId)).lost === true;
    if (!isLost && (await isEnough())) return;
    const hasEnd = (await endInLog(store, runId)) !== undefined;
    // The lease of a supervisor on another host expired and was renewed since `isAbandoned` found the run lost.
    if (liveness === 'live' && !hasEnd) continue;
    // Another process may be recovering the run: follow its events first.
    const count = (await store.extent(runId)).events;
    if (count > seen && count !== counted) {
      counted = count;
      continue;
    }
    // A supervisor that died after it had logged the end leaves a lost run whose end is known.
    if (isLost && !hasEnd) yield lostEnding(store, runId, seen);
    return;
  }
}

/** Calls a function when the last call, or the beginning, is so long ago. */
function atIntervals(ms: number, call: () => Promise<void>): () => Promise<void> {
  let calledAtMs = performance.now();
  return async () => {
    const nowMs = performance.now();
    if (nowMs - calledAtMs < ms) return;
    calledAtMs = nowMs;
    await call();
  };
}

/**
 * Waits for the final record of a run whose last event was read: its supervisor writes the record after the log. Recovers a lost run. `recorded`
 * settles when the record is there.
 */
export async function endedRecord(
  host: RunHost,
  runId: string,
  recorded?: Promise<unknown>,
): Promise<RunRecord & { lost?: true }> {
  for (;;) {
    const { store } = host;
    const { record, liveness } = await livenessOf(store, runId);
    if (liveness === 'lost') return recovered(host, runId);
    if (liveness === 'ended' || (await endInLog(store, runId)) === undefined) return record;
    const round = pause(ROUND_MS);
    await (recorded === undefined ? round : Promise.race([round, recorded]));
    // It has settled, and would end each further round at once.
    recorded = undefined;
  }
}

async function recovered(host: RunHost, runId: string): Promise<RunRecord & { lost?: true }> {
  const { recoverRun } = await import('./recover-lost-run.ts');
  return recoverRun(host, runId);
}

const NO_SEAL = new SealBuilder().seal();

/**
 * The synthetic `runner_end` line that ends the follow of a lost run (contract §3, §7). A reader writes nothing, so the line is not in
 * the log. Its `seq` is that of the last event that was followed, so that `since` continues with the events that recovery writes.
 */
async function lostEnding(store: RunStore, runId: string, followedSeq: number): Promise<Uint8Array> {
  const record = await store.read(runId);
  const { bytes } = await store.extent(runId);
  const tail = store.tail(runId);
  const { value: last } = await tail.next();
  await tail.return(undefined);
  const lastMs = Date.parse(String(last?.ts ?? record.created_at));
  const { lostOutcome } = await import('./lost-outcome.ts');
  const { code, retryable } = lostOutcome(record);
  const end = {
    v: PROTOCOL_VERSION,
    type: 'runner_end',
    ts: new Date().toISOString(),
    run_id: runId,
    state: 'failed',
    rc: null,
    signal: null,
    code,
    retryable,
    duration_s: Math.max(0, lastMs - Date.parse(record.created_at)) / 1000,
    usage: UNKNOWN_USAGE,
    events: followedSeq,
    bytes,
    artifacts: [],
    survivors: [],
    next: (await stepsAfterLoss(record, store)).map(store.commandOf),
    attempt: record.attempt,
    lost: true,
    seal: NO_SEAL,
    seq: followedSeq,
  };
  return Buffer.from(`${JSON.stringify(end)}\n`);
}
