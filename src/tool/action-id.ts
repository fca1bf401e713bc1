import { readAnswerFile } from './answer-file.ts';

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
