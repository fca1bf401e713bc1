import { findOpenQuestion, submitAnswer } from '../../core/run/answers/submit-answer.ts';
import type { AnswerSource } from '../../protocol/v1/wire.ts';
import type { AcorApp } from '../acor-app.ts';

/** An answer to a question of a run; without an action id it is for the only one that is open. */
export interface GivenAnswer {
  run: string;
  actionId: string | undefined;
  value: unknown;
  by: string;
  source: AnswerSource;
  reason?: string | undefined;
}

/** What was answered. */
export interface TakenAnswer {
  run_id: string;
  action_id: string;
  action: string;
  answer: unknown;
  by: string;
}

/** Answers a question of a run, whoever supervises it. Throws E_RUN_NOT_FOUND and E_BAD_ANSWER; then the question stays open. */
export async function answerQuestion(
  app: AcorApp,
  { run, actionId, ...given }: GivenAnswer,
  signal?: AbortSignal,
): Promise<TakenAnswer> {
  const { store } = await app.project();
  const question = await findOpenQuestion(store, run, actionId);
  await submitAnswer(store, run, question, given, signal);
  return {
    run_id: run,
    action_id: question.actionId,
    action: question.action,
    answer: given.value,
    by: given.by,
  };
}
