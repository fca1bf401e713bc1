import type { ReadEvent } from '../ports/run-store.ts';
import { eventsOfTypes } from './marked-lines.ts';

const ASKING = ['action_required', 'task_action_required'];
/** The events that change what a run asks; those before its first question change nothing. */
const TYPES = new Set([...ASKING, 'action_answered', 'task_done', 'runner_state', 'runner_end']);

/** Whether an event of this type may change what a run asks. */
export function concernsQuestions(type: string): boolean {
  return TYPES.has(type);
}

/** Whether an event of this type is a question. */
export function isQuestion(type: unknown): boolean {
  return ASKING.includes(String(type));
}

/** The events among whole lines that concern questions. Only lines that name such a type are parsed. */
export function questionEventsIn(lines: Buffer): ReadEvent[] {
  return [...eventsOfTypes(lines, TYPES)];
}
