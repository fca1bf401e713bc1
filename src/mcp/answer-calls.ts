import type { OpenQuestion, RunQuestions } from '../operations/run/run-status.ts';
import { type NextCall, nextCalls } from './next-calls.ts';

/** The calls that answer the questions for which a run waits: one for each known answer, else one that lacks its value. */
export function answerCalls(
  run: string,
  { questions, answers, answerable }: Pick<RunQuestions, 'questions' | 'answers' | 'answerable'>,
): NextCall[] {
  const known = answers.flatMap((step) => ('input' in step ? [step.input['action_id']] : []));
  const others = questions.filter(
    ({ blocking, action_id }) => blocking && !known.includes(action_id) && answerable.has(action_id),
  );
  return [
    ...nextCalls(answers),
    ...others.map(({ action_id, schema }) => ({
      tool: 'acor_answer',
      arguments: { run, action_id },
      missing: { value: schema ?? {} },
    })),
  ];
}

/** What an answer may be, in words. */
export function possibleAnswers({ options, schema }: OpenQuestion): string {
  if (options !== null && options.length > 0)
    return `choice, one of: ${options.map(({ id }) => String(id)).join(', ')}`;
  return schema === null ? 'value, any JSON value' : `value, which fits ${JSON.stringify(schema)}`;
}
