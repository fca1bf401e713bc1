import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** An answer that the tool gets: a line on stdin or a file in ANSWERS_DIR (contract §4). */
export interface DeliveredAnswer {
  action_id: string;
  answer: unknown;
  /** The question's action, if the runner sends it. */
  action?: string;
  /** The run's deadline, if the wait has extended it, and the attempt that it applies to. */
  deadline_ts?: string;
  attempt?: number;
}

/** The answer in the answers folder, if it exists. */
export function readAnswerFile(actionId: string): DeliveredAnswer | undefined {
  const dir = process.env['ANSWERS_DIR'];
  if (!dir) return undefined;
  try {
    const delivered = parseAnswer(readFileSync(join(dir, `${actionId}.json`), 'utf8'));
    return delivered?.action_id === actionId ? delivered : undefined;
  } catch {
    return undefined;
  }
}

/** Parses one answer; undefined for anything else. */
export function parseAnswer(text: string): DeliveredAnswer | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return undefined;
    const isAnswer =
      'type' in value &&
      value.type === 'action_answer' &&
      'action_id' in value &&
      typeof value.action_id === 'string' &&
      'answer' in value;
    return isAnswer ? (value as DeliveredAnswer) : undefined;
  } catch {
    return undefined;
  }
}

let asked = 0;

/**
 * `a-1`, `a-2` … in the order of asking, so that a restarted attempt finds its earlier answers. A number whose answer
 * belongs to a different action is skipped: a resumed attempt may not ask everything again.
 */
export function nextActionId(action: string): string {
  for (;;) {
    asked += 1;
    const actionId = `a-${asked}`;
    const earlier = readAnswerFile(actionId);
    if (earlier?.action === undefined || earlier.action === action) return actionId;
  }
}
