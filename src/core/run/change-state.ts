import { mayFollow, type RunState } from '../../protocol/run-state.ts';
import type { RunWriter } from '../store-files/run-store.ts';

/** Records that a run changes to a state from the one in its record. */
export function enterState(
  { log, record }: RunWriter,
  to: RunState,
  reason?: string | null,
  more: Readonly<Record<string, unknown>> = {},
): void {
  changeState(log, record.state, to, { ...(reason && { reason }), ...more });
}

/** Records a change of state, which the table of states must allow. */
export function changeState(
  log: RunWriter['log'],
  from: RunState,
  to: RunState,
  more: Readonly<Record<string, unknown>>,
): void {
  if (!mayFollow(from, to)) throw new Error(`Internal: a run cannot go from ${from} to ${to}`);
  log.append({ type: 'runner_state', from, to, ...more });
}
