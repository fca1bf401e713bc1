import type { RunRecord } from '../../protocol/run-record.ts';
import { isFinal } from '../../protocol/run-state.ts';
import { summariseLog } from '../store-files/log-summary.ts';
import { isLost } from '../store-files/lost-runs.ts';
import type { RunStore } from '../store-files/run-store.ts';
import { settled } from './recover-lost-run.ts';

const ROUND_MS = 5;

/** The record of a run that was followed to its end: its supervisor writes it after the log, so that there is a moment in between. */
export async function endedRecord(store: RunStore, runId: string): Promise<RunRecord> {
  for (;;) {
    const record = await settled(store, runId);
    const isComing = !isFinal(record.state) && !isLost(record);
    if (!isComing || summariseLog(store.layout(runId).events).end === undefined) return record;
    await new Promise((resolve) => setTimeout(resolve, ROUND_MS));
  }
}
