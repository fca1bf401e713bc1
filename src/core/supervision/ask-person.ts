import { log } from '@clack/prompts';
import { promptFor } from '../../cli/dialog/question-prompt.ts';
import { safeLine } from '../../compose/terminal-text.ts';
import { AcorError } from '../../protocol/acor-error.ts';
import { userName } from '../../util/user-name.ts';
import type { RunStore } from '../ports/run-store.ts';
import { checkOfAnswers } from '../run/answers/check-answer.ts';
import { type Question, readQuestion } from '../run/answers/question.ts';
import { submitAnswer } from '../run/answers/submit-answer.ts';
import { isLive } from '../run/liveness.ts';
import { readEvents } from '../run/read-events.ts';
import { blockingQuestionsOf } from './follow-run.ts';

/** How a dialog ended: the run waits for nothing any more, or the person has left its question open. */
export type DialogEnd = 'settled' | 'left';

/** How a question was closed while a person looked at it. */
type Closed = 'answered' | 'gone';

/**
 * Puts the questions for which a run stands still to the person at the terminal, one after the other, and hands the
 * answers in. Ends when there is none left, when the person leaves (Ctrl-C) or when `signal` says so.
 */
export async function putOpenQuestions(
  store: RunStore,
  runId: string,
  signal: AbortSignal,
): Promise<DialogEnd> {
  while (await isLive(store, runId)) {
    const [first] = await blockingQuestionsOf(store, runId);
    if (first === undefined) return 'settled';
    const question = readQuestion(first.asked);
    const end = await putQuestion(store, runId, question, Number(first.asked.seq), signal);
    if (end === 'left') return 'left';
  }
  return 'settled';
}

async function putQuestion(
  store: RunStore,
  runId: string,
  question: Question,
  askedAt: number,
  signal: AbortSignal,
): Promise<DialogEnd> {
  const done = new AbortController();
  const closing = new AbortController();
  const watched = untilClosed(store, runId, question.actionId, askedAt, done.signal).then((how) => {
    if (how !== undefined) closing.abort();
    return how;
  });
  const check = await checkOfAnswers(question);
  const given = await promptFor(question, check, AbortSignal.any([closing.signal, signal]));
  done.abort();
  const closed = await watched;
  if (given !== undefined) return handIn(store, runId, question, given.value, signal);
  if (closed === undefined) return 'left';
  log.info(
    closed === 'answered'
      ? 'Somebody else has answered it meanwhile.'
      : 'The run no longer waits for an answer to it.',
  );
  return 'settled';
}

async function handIn(
  store: RunStore,
  runId: string,
  question: Question,
  value: unknown,
  signal: AbortSignal,
): Promise<DialogEnd> {
  try {
    await submitAnswer(store, runId, question, { value, by: userName(), source: 'dialog' }, signal);
  } catch (error) {
    if (signal.aborted) return 'left';
    if (!(error instanceof AcorError) || error.code !== 'E_BAD_ANSWER') throw error;
    log.warn(safeLine(error.message));
  }
  return 'settled';
}

/** Resolves when an answer to a question would no longer be taken, and with `undefined` when nobody wants to know any more. */
async function untilClosed(
  store: RunStore,
  runId: string,
  actionId: string,
  askedAt: number,
  signal: AbortSignal,
): Promise<Closed | undefined> {
  const isAbandoned = async () => !(await isLive(store, runId));
  const options = { since: askedAt, wait: true, signal, isAbandoned };
  for await (const { type, action_id, to } of readEvents(store, runId, options)) {
    if (type === 'action_answered' && action_id === actionId) return 'answered';
    if (type === 'runner_state' && to !== 'waiting_ai') return 'gone';
  }
  return signal.aborted ? undefined : 'gone';
}
