import { ask } from '../../../tool/index.ts';

export interface Choice {
  label: string;
  description: string;
}

/** Asks a question of the model and returns the answer as text: the option's number and label, or free text. */
export async function askUser(
  action: 'question' | 'blocked',
  msg: string,
  choices: readonly Choice[],
  context = '',
): Promise<string> {
  const options = choices.map(({ label, description }, index) => ({
    id: String(index + 1),
    label,
    ...(description !== '' && { description }),
  }));
  const answer = await ask(action, {
    msg,
    ...(context !== '' && { context: { text: context } }),
    // Free text other than these is also an answer.
    ...(options.length > 0 && { options, schema: { type: 'string' } }),
  });
  const chosen = options.find(({ id }) => id === answer);
  if (chosen !== undefined) return `option ${chosen.id} (${chosen.label})`;
  return typeof answer === 'string' ? answer : JSON.stringify(answer);
}
