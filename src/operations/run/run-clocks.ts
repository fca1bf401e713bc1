import type { RunStore } from '../../core/ports/run-store.ts';
import { lastEventOf, lastProgress, type RecentEvents } from '../../core/run/read-log.ts';
import { isFinal } from '../../protocol/run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';

/** Seconds since the last event of a run, and the time of its last progress; null for a run that has ended. */
export async function clocksOf(
  store: RunStore,
  record: RunRecord,
  recent?: RecentEvents,
): Promise<{ silent_for_s: number | null; last_progress_at: string | null }> {
  if (isFinal(record.state)) return { silent_for_s: null, last_progress_at: null };
  const { lastEvent, progress } = recent ?? (await readOrNothing(store, record.run_id));
  const lastMs = Date.parse(String(lastEvent?.ts ?? record.created_at));
  return {
    silent_for_s: Math.max(0, Date.now() - lastMs) / 1000,
    last_progress_at: progress === undefined ? null : String(progress.ts),
  };
}

/** A run that is just being made has no log yet, and one that was tampered with may have none any more. */
async function readOrNothing(store: RunStore, runId: string): Promise<Partial<RecentEvents>> {
  try {
    return { lastEvent: await lastEventOf(store, runId), progress: await lastProgress(store, runId) };
  } catch {
    return {};
  }
}
