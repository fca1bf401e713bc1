import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { holdsRedaction } from '../../../protocol/redaction-mark.ts';
import type { RunStore } from '../../ports/run-store.ts';
import type { RunWorkspace } from '../workspace.ts';
import { answeredIds } from './answer-files.ts';

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
