import type { RunRecord } from '../../protocol/run-record.ts';
import { isFinal } from '../../protocol/run-state.ts';
import { isRunning } from '../../util/process-table.ts';

/** Whether a run that has not ended has lost its supervisor: its process is gone, or is another one of the same pid. */
export function isLost(record: RunRecord): boolean {
  return !isFinal(record.state) && !isRunning(record.supervisor);
}

/** Whether a run is being worked on now. */
export function isLive(record: RunRecord): boolean {
  return !isFinal(record.state) && isRunning(record.supervisor);
}
