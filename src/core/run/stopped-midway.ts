import type { RunRecord } from '../../protocol/run-record.ts';

/** Endings after which nobody can say what the tool had done by then. */
const STOPPED_MIDWAY = [
  'E_RUNNER_LOST',
  'E_HEARTBEAT_MISSED',
  'E_DEADLINE',
  'E_TIMEOUT',
  'E_OUTPUT_LIMIT',
  'E_OUTCOME_UNKNOWN',
];

/** Whether a run that has ended was ended by somebody else than its tool, mid-way. */
export function wasStoppedMidway({ code, signal }: RunRecord): boolean {
  return signal !== null || (code !== null && STOPPED_MIDWAY.includes(code));
}
