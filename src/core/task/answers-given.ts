import type { RunStore } from '../ports/run-store.ts';
import { questionsOf } from '../run/answers/open-questions.ts';
import { readQuestion } from '../run/answers/question.ts';
import { type GivenAnswer, inWords } from './turn-questions.ts';

/** All answers that a run has had so far, in the order of the questions. */
export async function answersGiven(store: RunStore, runId: string): Promise<GivenAnswer[]> {
  const questions = await questionsOf(store, runId);
  return questions.flatMap(({ asked, answered }) =>
    answered === undefined ? [] : [inWords(readQuestion(asked), answered['answer'])],
  );
}
