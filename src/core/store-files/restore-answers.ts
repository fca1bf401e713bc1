import { holdsRedaction } from '../../protocol/redaction-mark.ts';
import { answeredIds, fileAnswer, isSafeActionId } from './answer-inbox.ts';
import { readEvents } from './follow.ts';
import type { RunLayout } from './layout.ts';

/**
 * Gives the tool every answer that the log has and `ANSWERS_DIR` has not: a supervisor that is killed between the two has
 * acknowledged an answer that its tool would never hear of. Answers from before a `retry` are not the tool's any more.
 * One that held a secret is not in the log as it was given: the tool asks again.
 */
export async function restoreAnswers(layout: RunLayout): Promise<void> {
  const answers = new Map<string, string>();
  for await (const event of readEvents(layout.events, { wait: false })) {
    if (event.type === 'runner_state' && event.reason === 'retry') answers.clear();
    if (event.type !== 'action_answered') continue;
    const { action_id, action, answer } = event;
    const id = String(action_id);
    // Answered at a child of the run, which has it there.
    if (!isSafeActionId(id)) continue;
    if (holdsRedaction(answer)) answers.delete(id);
    else answers.set(id, JSON.stringify({ v: 1, type: 'action_answer', action_id, action, answer }));
  }
  const filed = answeredIds(layout);
  for (const [actionId, line] of answers) if (!filed.has(actionId)) fileAnswer(layout, actionId, line);
}
