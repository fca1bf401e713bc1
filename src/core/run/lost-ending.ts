import { PROTOCOL_VERSION } from '../../protocol/v1/wire.ts';
import type { RunStore } from '../ports/run-store.ts';
import { SealBuilder } from '../store-files/seal.ts';
import { stepsAfter } from './steps-after.ts';
import { UNKNOWN_USAGE } from './write-ending.ts';

const NO_SEAL = new SealBuilder().seal();

/**
 * The synthetic `runner_end` line that ends the follow of a lost run (contract §3, §7). A reader writes nothing, so the line is not in
 * the log. Its `seq` is that of the last event that was followed, so that `since` continues with the events that recovery writes.
 */
export async function lostEnding(store: RunStore, runId: string, followedSeq: number): Promise<Uint8Array> {
  const record = await store.read(runId);
  const { bytes } = await store.extent(runId);
  const tail = store.tail(runId);
  const { value: last } = await tail.next();
  await tail.return(undefined);
  const lastMs = Date.parse(String(last?.ts ?? record.created_at));
  const code = 'E_RUNNER_LOST';
  const end = {
    v: PROTOCOL_VERSION,
    type: 'runner_end',
    ts: new Date().toISOString(),
    run_id: runId,
    state: 'failed',
    rc: null,
    signal: null,
    code,
    duration_s: Math.max(0, lastMs - Date.parse(record.created_at)) / 1000,
    usage: UNKNOWN_USAGE,
    events: followedSeq,
    bytes,
    artifacts: [],
    survivors: [],
    next: stepsAfter({ ...record, state: 'failed', code, retryable: false, late: true }).map(store.commandOf),
    attempt: record.attempt,
    lost: true,
    seal: NO_SEAL,
    seq: followedSeq,
  };
  return Buffer.from(`${JSON.stringify(end)}\n`);
}
