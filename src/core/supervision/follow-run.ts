import type { RunStore } from '../ports/run-store.ts';
import { type AskedQuestion, questionsOf } from '../run/answers/open-questions.ts';
import { answerCommands, readQuestion } from '../run/answers/question.ts';
import { followToEnd } from '../run/follow-to-end.ts';

/** Why the following of a run stopped: it is over, it waits for an answer, or whoever followed had enough. */
export type FollowEnd = 'ended' | 'question' | 'stopped';

const STATE_MARK = Buffer.from('"type":"runner_state"');

/**
 * Follows a run of any supervisor, from any `seq` on, and stops at its end or when it stands still for an answer. `show`
 * gets whole lines as they come, and says when nobody looks any more.
 */
export async function followRun(
  store: RunStore,
  runId: string,
  options: { since: number; signal?: AbortSignal; atQuestions: boolean; recovers?: boolean },
  show: (lines: Uint8Array) => Promise<'written' | 'closed'>,
): Promise<FollowEnd> {
  // What is left out may hold the question for which the run waits.
  const waits = options.since > 0 && (await blockingQuestionsOf(store, runId)).length > 0;
  let state = waits ? 'waiting_ai' : undefined;
  let isOver = false;
  const isEnough = () => options.atQuestions && state === 'waiting_ai';
  for await (const lines of followToEnd(store, runId, { ...options, isEnough })) {
    state = stateAfter(lines) ?? state;
    isOver = state !== undefined && state !== 'running' && state !== 'waiting_ai' && state !== 'queued';
    if ((await show(lines)) === 'closed') return 'stopped';
  }
  if (isOver) return 'ended';
  if (options.atQuestions && state === 'waiting_ai') return 'question';
  return options.signal?.aborted ? 'stopped' : 'ended';
}

/** The questions for which a run stands still, in the order in which they were asked. */
export async function blockingQuestionsOf(store: RunStore, runId: string): Promise<AskedQuestion[]> {
  const questions = await questionsOf(store, runId);
  return questions.filter(({ asked, isOpen }) => isOpen && asked.blocking === true);
}

/** The commands that answer the questions for which a run stands still. */
export async function commandsForOpenQuestions(store: RunStore, runId: string): Promise<string[]> {
  const questions = await blockingQuestionsOf(store, runId);
  return questions.flatMap(({ asked }) => answerCommands(runId, readQuestion(asked)));
}

/** The state that a batch of lines leaves the run in, if it changes it. */
export function stateAfter(lines: Uint8Array): string | undefined {
  const buffer = Buffer.from(lines.buffer, lines.byteOffset, lines.length);
  for (
    let at = buffer.lastIndexOf(STATE_MARK);
    at !== -1;
    at = at === 0 ? -1 : buffer.lastIndexOf(STATE_MARK, at - 1)
  ) {
    const start = buffer.lastIndexOf(10, at) + 1;
    const event = JSON.parse(buffer.toString('utf8', start, buffer.indexOf(10, at)));
    // The words may also stand in an event that wraps another one.
    if (event.type === 'runner_state') return String(event.to);
  }
  return undefined;
}
