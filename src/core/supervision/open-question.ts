import type { RunStore } from '../ports/run-store.ts';
import { questionsOf } from '../run/answers/open-questions.ts';
import { readQuestion } from '../run/answers/question.ts';

/** A question that is open for an answer, in wire format. */
export interface OpenQuestion {
  action_id: string;
  action: string;
  audience: 'ai' | 'user';
  /** Whether it blocks the run. */
  blocking: boolean;
  msg: string | null;
  context: Record<string, unknown>;
  options: Record<string, unknown>[] | null;
  /** JSON Schema of the answer. */
  schema: Record<string, unknown> | null;
}

/** The open questions of a run. */
export async function openQuestionsOf(store: RunStore, runId: string): Promise<OpenQuestion[]> {
  const questions = await questionsOf(store, runId);
  return questions
    .filter(({ isOpen }) => isOpen)
    .map(({ asked }) => {
      const { actionId, action, audience, blocking, msg, context, options, schema } = readQuestion(asked);
      return {
        action_id: actionId,
        action,
        audience,
        blocking,
        msg: msg ?? null,
        context: { ...context },
        options: options?.map((option) => ({ ...option })) ?? null,
        schema: schema === undefined ? null : { ...schema },
      };
    });
}
