import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { holdsRedaction } from '../../../protocol/redaction-mark.ts';
import type { RunStore } from '../../ports/run-store.ts';
import type { RunWorkspace } from '../workspace.ts';
import { answeredIds, isSafeActionId, writeAnswerFile } from './answer-files.ts';
import { isRunnersQuestion } from './question.ts';

/**
 * Writes every answer that is in the log and not in ANSWERS_DIR: a supervisor that was killed between the two writes had acknowledged
 * an answer that its tool never received. Answers from before a `retry` are dropped. An answer that contained a secret is redacted in
 * the log and cannot be restored: the tool asks again.
 */
export async function restoreAnswers(store: RunStore, runId: string, workspace: RunWorkspace): Promise<void> {
  const answers = new Map<string, string>();
  for (const event of await store.questionEvents(runId)) {
    if (event.type === 'runner_state' && event.reason === 'retry') answers.clear();
    if (event.type !== 'action_answered') continue;
    const { action_id, action, answer } = event;
    const id = String(action_id);
    // A child of the run got this answer, and has the file; or the runner got it.
    if (!isSafeActionId(id) || isRunnersQuestion(id)) continue;
    if (holdsRedaction(answer)) answers.delete(id);
    else answers.set(id, JSON.stringify({ v: 1, type: 'action_answer', action_id, action, answer }));
  }
  const filed = answeredIds(workspace);
  for (const [actionId, line] of answers)
    if (!filed.has(actionId)) writeAnswerFile(workspace, actionId, line);
}

/** Removes the answer files of a run that contain a secret, as the log marks them. A resumed run asks these questions again. */
export async function removeRedactedAnswers(
  store: RunStore,
  runId: string,
  workspace: RunWorkspace,
): Promise<void> {
  const filed = answeredIds(workspace);
  if (filed.size === 0) return;
  for (const { type, action_id, answer } of await store.questionEvents(runId)) {
    if (type !== 'action_answered' || !filed.has(String(action_id)) || !holdsRedaction(answer)) continue;
    rmSync(join(workspace.answers, `${action_id}.json`), { force: true });
  }
}
