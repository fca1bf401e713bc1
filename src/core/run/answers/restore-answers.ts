import { holdsRedaction } from '../../../protocol/redaction-mark.ts';
import type { RunStore } from '../../ports/run-store.ts';
import type { RunWorkspace } from '../workspace.ts';
import { answeredIds, fileAnswer, isSafeActionId } from './answer-files.ts';

/**
 * Gives the tool every answer that the log has and `ANSWERS_DIR` has not: a supervisor that is killed between the two has
 * acknowledged an answer that its tool never received. Answers from before a `retry` do not count for the tool any more.
 * One that held a secret is not in the log as it was given: the tool asks again.
 */
export async function restoreAnswers(store: RunStore, runId: string, workspace: RunWorkspace): Promise<void> {
  const answers = new Map<string, string>();
  for (const event of await store.questionEvents(runId)) {
    if (event.type === 'runner_state' && event.reason === 'retry') answers.clear();
    if (event.type !== 'action_answered') continue;
    const { action_id, action, answer } = event;
    const id = String(action_id);
    // Answered at a child of the run, which has it there.
    if (!isSafeActionId(id)) continue;
    if (holdsRedaction(answer)) answers.delete(id);
    else answers.set(id, JSON.stringify({ v: 1, type: 'action_answer', action_id, action, answer }));
  }
  const filed = answeredIds(workspace);
  for (const [actionId, line] of answers) if (!filed.has(actionId)) fileAnswer(workspace, actionId, line);
}
