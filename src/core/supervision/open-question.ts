import * as z from 'zod';
import type { RunStore } from '../ports/run-store.ts';
import { questionsOf } from '../run/answers/open-questions.ts';
import { readQuestion } from '../run/answers/question.ts';

/** A question that an answer would be taken for now, as operations tell of it. */
export const openQuestion = z.object({
  action_id: z.string(),
  action: z.string(),
  audience: z.enum(['ai', 'user']).describe('Whom the tool would like to hear.'),
  blocking: z.boolean().describe('Whether the run waits for the answer.'),
  msg: z.string().nullable(),
  context: z.record(z.string(), z.unknown()),
  options: z.array(z.record(z.string(), z.unknown())).nullable(),
  schema: z.record(z.string(), z.unknown()).nullable().describe('JSON Schema of the answer.'),
});

/** The open questions of a run. */
export async function openQuestionsOf(
  store: RunStore,
  runId: string,
): Promise<z.output<typeof openQuestion>[]> {
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
        context,
        options: options?.map((option) => ({ ...option })) ?? null,
        schema: schema ?? null,
      };
    });
}
