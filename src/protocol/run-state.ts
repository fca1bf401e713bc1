/** The life cycle of a run as data (contract §3): the allowed state transitions. All state changes follow it. */
export const RUN_STATES = {
  queued: ['running', 'failed', 'cancelled'],
  running: ['waiting_ai', 'completed', 'failed', 'cancelled'],
  waiting_ai: ['running', 'failed', 'cancelled'],
  // `acor resume` and `acor retry` start the next attempt of the same run. Of a completed run, only a workflow's steps
  // may run again.
  completed: ['queued'],
  failed: ['queued'],
  cancelled: ['queued'],
} as const satisfies Record<string, readonly string[]>;

export type RunState = keyof typeof RUN_STATES;
export type FinalState = 'completed' | 'failed' | 'cancelled';

/** Whether the table allows this transition. */
export function mayFollow(from: RunState, to: RunState): boolean {
  return (RUN_STATES[from] as readonly string[]).includes(to);
}

/** Whether a run in this state has ended. */
export function isFinal(state: RunState): state is FinalState {
  return state === 'completed' || state === 'failed' || state === 'cancelled';
}
