import { readQuestion } from '../run/answers/question.ts';
import type { RunLayout } from '../store-files/layout.ts';
import { questionsOf } from '../store-files/open-questions.ts';
import { type GivenAnswer, inWords } from './turn-questions.ts';

/** All answers that a run has had so far, in the order of the questions. */
export async function answersGiven({ events }: RunLayout): Promise<GivenAnswer[]> {
  const questions = await questionsOf(events);
  return questions.flatMap(({ asked, answered }) =>
    answered === undefined ? [] : [inWords(readQuestion(asked), answered['answer'])],
  );
}
