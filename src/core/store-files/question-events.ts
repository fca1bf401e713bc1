import type { ReadEvent } from '../ports/run-store.ts';

const LF = 10;
const ASKING = ['action_required', 'task_action_required'];
/** The types of events that change the questions of a run. Such events before the first question change nothing. */
const TYPES = new Set([...ASKING, 'action_answered', 'task_done', 'runner_state', 'runner_end']);
const MARKS = [...TYPES].map((type) => Buffer.from(`"${type}"`));

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
  return [...startsOfMarkedLines(lines)]
    .sort((a, b) => a - b)
    .map((start) => JSON.parse(lines.toString('utf8', start, endOfLine(lines, start))) as ReadEvent)
    .filter(({ type }) => concernsQuestions(String(type)));
}

function startsOfMarkedLines(lines: Buffer): Set<number> {
  const starts = new Set<number>();
  for (const mark of MARKS)
    for (let at = lines.indexOf(mark); at !== -1; at = lines.indexOf(mark, endOfLine(lines, at)))
      starts.add(lines.lastIndexOf(LF, at) + 1);
  return starts;
}

function endOfLine(lines: Buffer, from: number): number {
  const end = lines.indexOf(LF, from);
  return end === -1 ? lines.length : end;
}
