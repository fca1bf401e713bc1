import type { ReadEvent } from '../ports/run-store.ts';
import { eventsOfTypes } from './marked-lines.ts';

const ASKING = ['action_required', 'task_action_required'];
/** The types of events that change the questions of a run. Such events before the first question change nothing. */
const TYPES = new Set([...ASKING, 'action_answered', 'task_done', 'runner_state', 'runner_end']);

/** Whether an event of this type may change the questions of a run. */
export function concernsQuestions(type: string): boolean {
  return TYPES.has(type);
}

/** Whether an event of this type is a question. */
export function isQuestion(type: unknown): boolean {
  return ASKING.includes(String(type));
}

/** The question events among whole lines. Only lines that contain such a type are parsed. */
export function questionEventsIn(lines: Buffer): ReadEvent[] {
  return [...eventsOfTypes(lines, TYPES)];
}
