import { AcorError } from '../../../protocol/acor-error.ts';
import { listQuestions } from '../../../protocol/next-steps.ts';
import { isFinal } from '../../../protocol/run.ts';
import type { RunRecord } from '../../../protocol/run-record.ts';
import type { AnswerSource } from '../../../protocol/v1/wire.ts';
import { newSpanId } from '../../../util/ids.ts';
import type { RunStore } from '../../ports/run-store.ts';
import { eventsIn } from '../../store-files/follow.ts';
import { lostOutcome } from '../lost-outcome.ts';
import { lostMessage, readRun } from '../read-run.ts';
import { stepsAfterLoss } from '../steps-after.ts';
import { SupervisorWatch } from '../supervisor-watch.ts';
import { questionsOf } from './open-questions.ts';
import {
  answerTo,
  isNamed,
  jsonAnswer,
  problemOfAnswer,
  type Question,
  type QuestionNames,
  readQuestion,
  validAnswerSteps,
} from './question.ts';

/** An answer to a run, whatever process supervises it. */
export interface AnswerSubmission {
  value: unknown;
  by: string;
  source: AnswerSource;
  reason?: string | undefined;
}

/**
 * Finds the open question of a run by `name`: its action id or its action. Without a name, the run must have exactly one open question.
 * Throws E_RUN_NOT_FOUND, and E_BAD_ANSWER when no such question is open;
 * E_RUNNER_LOST when the run has lost its supervisor.
 */
export async function findOpenQuestion(store: RunStore, runId: string, name?: string): Promise<Question> {
  const record = await readRun(store, runId);
  const { state } = record;
  if (record.code === 'E_RUNNER_LOST') throw await lost(store, record);
  if (isFinal(state)) throw refused(runId, `run ${runId} has ended (${state}) and takes no more answers`);
  const all = await questionsOf(store, runId);
  const { asked, answered, askedBy } = chosenOf(all, runId, name);
  if (answered === undefined) return { ...readQuestion(asked), ...(askedBy && { askedBy }) };
  throw refused(
    runId,
    `'${String(asked.action_id)}' has been answered already, by ${String(answered.by)}: ${JSON.stringify(answered.answer)}`,
  );
}

/**
 * Posts an answer and waits until the supervisor records or rejects it. Throws E_BAD_ANSWER when the answer is invalid, when another
 * answer was accepted first, or when the run ended before its supervisor read the answer; E_RUNNER_LOST when the supervisor does not react.
 */
export async function submitAnswer(
  store: RunStore,
  runId: string,
  question: Question,
  submission: AnswerSubmission,
  signal?: AbortSignal,
): Promise<void> {
  const { askedBy, ...own } = question;
  if (askedBy !== undefined)
    return submitAnswer(store, askedBy.runId, { ...own, actionId: askedBy.actionId }, submission, signal);
  const { by, source, reason, value } = submission;
  const answer = await checkAnswer(runId, question, value);
  const answer_id = newSpanId();
  const posted = { answer_id, action_id: question.actionId, answer, by, source, ...(reason && { reason }) };
  const since = (await store.extent(runId)).events;
  await store.control.postAnswer(runId, posted);
  await untilRecorded(store, runId, { answerId: answer_id, since, signal });
  // The supervisor syncs the answer after readers can see it.
  await store.syncLog(runId);
}

/** The answer as it would be posted. Throws E_BAD_ANSWER for one that the question does not take. */
export async function checkAnswer(runId: string, question: Question, value: unknown): Promise<unknown> {
  const answer = answerTo(question, jsonAnswer(value));
  const problem = await problemOfAnswer(question, answer);
  if (problem !== undefined) throw await invalidAnswer(problem, runId, question);
  return answer;
}

type Asked = Awaited<ReturnType<typeof questionsOf>>;

function chosenOf(all: Asked, runId: string, name: string | undefined): Asked[number] {
  const open = all.filter(({ answered }) => answered === undefined);
  if (name !== undefined) {
    const isMeant = (question: Asked[number]) => isNamed(namesOf(question), name);
    const found =
      all.find(({ asked }) => asked.action_id === name) ?? open.find(isMeant) ?? all.find(isMeant);
    if (found !== undefined) return found;
    throw refused(runId, `run ${runId} has not asked '${name}'${listed(open)}`);
  }
  if (open.length === 1) return open[0]!;
  if (open.length === 0) throw refused(runId, `run ${runId} has no open question`);
  throw refused(
    runId,
    `run ${runId} has ${open.length} open questions; name the action id of one${listed(open)}`,
  );
}

/** The open questions of a run, by all their names. */
export async function openQuestionNames(store: RunStore, runId: string): Promise<QuestionNames[]> {
  return (await questionsOf(store, runId)).filter(({ isOpen }) => isOpen).map(namesOf);
}

function namesOf({ asked, askedBy }: Asked[number]): QuestionNames {
  return { ...readQuestion(asked), ...stepNameOf(asked, askedBy) };
}

/** The name of the step that asks, behind the tasks that lead to it. */
function stepNameOf(
  { action_id, step }: Asked[number]['asked'],
  askedBy: Asked[number]['askedBy'],
): { step?: string } {
  if (typeof step !== 'string') return {};
  return {
    step: `${askedBy === undefined ? '' : String(action_id).slice(0, -askedBy.actionId.length)}${step}`,
  };
}

function listed(open: Asked): string {
  const names = open.map(({ asked }) => `${String(asked.action_id)} (${String(asked.action)})`);
  return open.length === 0 ? '' : `; open: ${names.join(', ')}`;
}

/** Waits until the supervisor records the answer, or throws its reason for rejecting it. */
async function untilRecorded(
  store: RunStore,
  runId: string,
  { answerId, since, signal }: { answerId: string; since: number; signal: AbortSignal | undefined },
): Promise<void> {
  const watch = new SupervisorWatch(store, runId);
  const isAbandoned = () => watch.isGone();
  const options = { since, wait: true, isAbandoned, ...(signal && { signal }) };
  for await (const lines of store.follow(runId, options)) {
    const event = eventsIn(lines).find(({ answer_id }) => answer_id === answerId);
    if (event?.type === 'action_answered') return;
    if (event !== undefined) throw refused(runId, String(event.msg));
  }
  signal?.throwIfAborted();
  const record = await readRun(store, runId);
  if (record.code === 'E_RUNNER_LOST') throw await lost(store, record);
  throw refused(runId, `run ${runId} ended before its supervisor read the answer`);
}

function refused(runId: string, message: string): AcorError {
  return new AcorError('E_BAD_ANSWER', message, {
    hint: 'List the questions of the run.',
    next: [listQuestions(runId)],
  });
}

/** Nothing is wrong with the answer: the run continues with another supervisor, which asks again. */
async function lost(store: RunStore, record: RunRecord): Promise<AcorError> {
  const { run_id: run } = record;
  const { hint } = lostOutcome(record);
  return new AcorError('E_RUNNER_LOST', `run ${run} takes no answer: ${lostMessage(record)}`, {
    ...(hint && { hint }),
    next: await stepsAfterLoss(record, store),
  });
}

async function invalidAnswer(problem: string, runId: string, question: Question): Promise<AcorError> {
  const { options, schema } = question;
  return new AcorError('E_BAD_ANSWER', problem, {
    hint: 'The question is still open. Send an answer that is one of its options or matches its schema.',
    details: { ...(options !== undefined && { options }), ...(schema !== undefined && { schema }) },
    next: await validAnswerSteps(runId, question),
  });
}
