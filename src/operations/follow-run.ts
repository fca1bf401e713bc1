import type { OperationContext } from '../compose/operation.ts';
import { answerCommands, readQuestion } from '../core/runner/answers/question.ts';
import { followEvents } from '../core/storage/follow.ts';
import { isLive } from '../core/storage/lost-runs.ts';
import { questionsOf } from '../core/storage/open-questions.ts';
import type { RunStore } from '../core/storage/run-store.ts';
import type { AcorApp } from './acor-app.ts';

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
  options: { since: number; signal?: AbortSignal; atQuestions: boolean },
  show: (lines: Uint8Array) => Promise<'written' | 'closed'>,
): Promise<FollowEnd> {
  let state: string | undefined;
  let isOver = false;
  const isDone = () => (options.atQuestions && state === 'waiting_ai') || !isLive(store.read(runId));
  const follow = {
    since: options.since,
    wait: true,
    isAbandoned: isDone,
    ...(options.signal && { signal: options.signal }),
  };
  for await (const lines of followEvents(store.layout(runId).events, follow)) {
    state = lastState(lines) ?? state;
    isOver = state !== undefined && state !== 'running' && state !== 'waiting_ai' && state !== 'queued';
    if ((await show(lines)) === 'closed') return 'stopped';
  }
  if (isOver) return 'ended';
  if (options.atQuestions && state === 'waiting_ai') return 'question';
  return options.signal?.aborted ? 'stopped' : 'ended';
}

/** The commands that answer the open questions of a run. */
export async function commandsForOpenQuestions(
  ctx: OperationContext<AcorApp>,
  runId: string,
): Promise<string[]> {
  const { store } = await ctx.app.project();
  const questions = await questionsOf(store.layout(runId).events);
  return questions
    .filter(({ asked, answered }) => answered === undefined && asked.blocking === true)
    .flatMap(({ asked }) => answerCommands(runId, readQuestion(asked)));
}

/** The state that a batch of lines leaves the run in, if it changes it. */
function lastState(lines: Uint8Array): string | undefined {
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
