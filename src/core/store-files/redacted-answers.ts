import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { holdsRedaction } from '../../protocol/redaction-mark.ts';
import { answeredIds } from './answer-inbox.ts';
import { readEvents } from './follow.ts';
import type { RunLayout } from './layout.ts';

/** Removes the filed answers of a run that hold a secret; which ones do is known from the log alone. Resumed, it asks again. */
export async function removeRedactedAnswers(layout: RunLayout): Promise<void> {
  const filed = answeredIds(layout);
  if (filed.size === 0) return;
  for await (const { type, action_id, answer } of readEvents(layout.events, { wait: false })) {
    if (type !== 'action_answered' || !filed.has(String(action_id)) || !holdsRedaction(answer)) continue;
    rmSync(join(layout.answers, `${action_id}.json`), { force: true });
  }
}
