import type { RunStore } from '../../core/ports/run-store.ts';
import { readQuestion, validAnswerSteps, valueStep } from '../../core/run/answers/question.ts';
import { stepsForOpenQuestions, waitingBelow } from '../../core/supervision/follow-run.ts';
import { type OpenQuestion, openQuestionsOf, shownQuestionsOf } from '../../core/supervision/run-status.ts';
import type { NextStep } from '../../protocol/next-steps.ts';
import { isFinal } from '../../protocol/run.ts';
import type { RunRecord } from '../../protocol/run-record.ts';
import type { WriteCommand } from '../command-forms.ts';

/** The questions that a reader of a run is shown: its own, and those of the runs that its tool has started. */
export async function questionsToShow(
  store: RunStore,
  record: Pick<RunRecord, 'run_id' | 'state' | 'code'>,
  commandOf: WriteCommand,
): Promise<OpenQuestion[]> {
  const { run_id } = record;
  const own = await withAnswers(run_id, await shownQuestionsOf(store, record), commandOf);
  if (isFinal(record.state)) return own;
  const below = await waitingBelow(store, run_id);
  const asked = await Promise.all(
    below.map(async ({ run_id: child }) =>
      (await withAnswers(child, await openQuestionsOf(store, child), commandOf)).map((question) => ({
        run_id: child,
        ...question,
      })),
    ),
  );
  return [...own, ...asked.flat()];
}

/** The steps that answer them. */
export async function answersToShow(store: RunStore, runId: string): Promise<NextStep[]> {
  const below = await waitingBelow(store, runId);
  const ids = [runId, ...below.map(({ run_id }) => run_id)];
  return (await Promise.all(ids.map((id) => stepsForOpenQuestions(store, id)))).flat();
}

/** Adds the form of the command where no ready one can be offered, because only the caller knows a valid answer. */
export function withAnswers(
  runId: string,
  questions: readonly OpenQuestion[],
  commandOf: WriteCommand,
): Promise<OpenQuestion[]> {
  return Promise.all(
    questions.map(async (question) => {
      const read = readQuestion({ ...question });
      if ((await validAnswerSteps(runId, read)).length > 0) return question;
      return { ...question, answer_with: commandOf(valueStep(runId, read)) };
    }),
  );
}
