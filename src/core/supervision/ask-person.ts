import { AcorError } from '../../protocol/acor-error.ts';
import { userName } from '../../util/users.ts';
import type { RunStore } from '../ports/run-store.ts';
import { type AnswerCheck, checkOfAnswers, type Question, readQuestion } from '../run/answers/question.ts';
import { submitAnswer } from '../run/answers/submit-answer.ts';
import { readEvents } from '../run/read-log.ts';
import { isLive } from '../run/read-run.ts';
import { blockingQuestionsOf, type DialogEnd } from './follow-run.ts';

/** How a surface asks the user. */
export interface Asker {
  /** Undefined when the user leaves the question open, or the signal ended it. */
  ask(question: Question, check: AnswerCheck, signal: AbortSignal): Promise<{ value: unknown } | undefined>;
  say(line: string): void;
}

/** How a question was closed while the user looked at it. */
type Closed = 'answered' | 'gone';

/**
 * Asks the user the questions that block a run, in sequence, and submits the answers. Ends when no question is left,
 * when the user leaves one open, or when `signal` ends it.
 */
export async function askPerson(
  store: RunStore,
  runId: string,
  asker: Asker,
  signal: AbortSignal,
): Promise<DialogEnd> {
  while (await isLive(store, runId)) {
    const [first] = await blockingQuestionsOf(store, runId);
    if (first === undefined) return 'settled';
    const question = readQuestion(first.asked);
    const end = await askOne(store, runId, question, Number(first.asked.seq), asker, signal);
    if (end === 'left') return 'left';
  }
  return 'settled';
}

async function askOne(
  store: RunStore,
  runId: string,
  question: Question,
  askedAt: number,
  asker: Asker,
  signal: AbortSignal,
): Promise<DialogEnd> {
  const done = new AbortController();
  const closing = new AbortController();
  const watched = untilClosed(store, runId, question.actionId, askedAt, done.signal).then((how) => {
    if (how !== undefined) closing.abort();
    return how;
  });
  const check = await checkOfAnswers(question);
  const given = await asker.ask(question, check, AbortSignal.any([closing.signal, signal]));
  done.abort();
  const closed = await watched;
  if (given !== undefined) return submit(store, runId, question, given.value, asker, signal);
  if (closed === undefined) return 'left';
  asker.say(
    closed === 'answered'
      ? 'It has been answered meanwhile.'
      : 'The run no longer waits for an answer to it.',
  );
  return 'settled';
}

async function submit(
  store: RunStore,
  runId: string,
  question: Question,
  value: unknown,
  asker: Asker,
  signal: AbortSignal,
): Promise<DialogEnd> {
  try {
    await submitAnswer(store, runId, question, { value, by: userName(), source: 'dialog' }, signal);
  } catch (error) {
    if (signal.aborted) return 'left';
    if (!(error instanceof AcorError) || error.code !== 'E_BAD_ANSWER') throw error;
    asker.say(error.message);
  }
  return 'settled';
}

/**
 * Resolves when an answer to the question would no longer be accepted, and with `undefined` when the signal ends the
 * watch.
 */
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
