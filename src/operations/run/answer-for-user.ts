import { findOpenQuestion, submitAnswer } from '../../core/run/answers/submit-answer.ts';
import { errorMessage } from '../../util/error-code.ts';
import type { AcorApp } from '../acor-app.ts';

const USER = { kind: 'local-user', name: 'user' } as const;

/**
 * Gives the answer of a client's user, to whom the client has shown the question. It is a person's, and so counts where only a person may
 * answer. Returns why it is invalid.
 */
export async function answerForUser(
  app: AcorApp,
  run: string,
  actionId: string,
  value: unknown,
): Promise<string | undefined> {
  try {
    await app.authorize({ name: 'run.answer', effect: 'writes' }, { run, action_id: actionId }, USER);
    const { store } = await app.project();
    const question = await findOpenQuestion(store, run, actionId);
    await submitAnswer(store, run, question, { value, by: 'user', source: 'mcp' });
    return undefined;
  } catch (error) {
    return `${errorMessage(error)}.`;
  }
}
