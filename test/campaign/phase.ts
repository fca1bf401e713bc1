import type { Event } from '../support/project.ts';

/** Where a start of a run stood, by the events that it had written. */
export function phaseOf(events: readonly Event[], isResume: boolean): string {
  return isResume ? `resume, ${phase(events)}` : phase(events);
}

function phase(events: readonly Event[]): string {
  const has = (type: string) => events.some((event) => event.type === type);
  const state = events.findLast(({ type }) => type === 'runner_state')?.to;
  if (events.length === 0) return 'before its first event';
  if (has('runner_end')) return 'ended, not yet entered';
  if (has('result')) return 'ending';
  if (state === 'waiting_ai') return 'waiting for an answer';
  return has('start') ? 'at work' : 'starting';
}
