import type { RunRecord } from '../../protocol/run-record.ts';
import type { RunStore } from '../ports/run-store.ts';
import { livenessOf } from './liveness.ts';
import { endInLog } from './read-run.ts';
import { recoverRun } from './recover-lost-run.ts';

const ROUND_MS = 5;

/** The record of a run that was followed to its end. Its supervisor writes the record after the log; a lost run is recovered. */
export async function endedRecord(store: RunStore, runId: string): Promise<RunRecord> {
  for (;;) {
    const { record, liveness } = await livenessOf(store, runId);
    if (liveness === 'lost') return recoverRun(store, runId);
    if (liveness === 'ended' || (await endInLog(store, runId)) === undefined) return record;
    await new Promise((resolve) => setTimeout(resolve, ROUND_MS));
  }
}
