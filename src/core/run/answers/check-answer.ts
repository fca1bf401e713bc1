import { AcorError } from '../../../protocol/acor-error.ts';
import { errorMessage } from '../../../util/error-code.ts';
import type { Question } from './question.ts';

type Schema = NonNullable<Question['schema']>;

/** Returns why a value is not a valid answer; undefined when it is valid. */
export type AnswerCheck = (value: unknown) => string | undefined;

/** Makes the check of a question's answers. An answer is valid when it is the id of an option or matches the schema. */
export async function checkOfAnswers({
  options = [],
  schema,
  actionId,
}: Pick<Question, 'options' | 'schema' | 'actionId'>): Promise<AnswerCheck> {
  const ids = options.map(({ id }) => id);
  const problemBySchema = schema === undefined ? undefined : await checkOfSchema(schema, actionId);
  return (value) => {
    if (ids.some((id) => id === value)) return undefined;
    if (problemBySchema !== undefined) return problemBySchema(value);
    if (ids.length === 0) return undefined;
    return `${JSON.stringify(value)} is not an option of '${actionId}'; expected one of: ${ids.join(', ')}`;
  };
}

/** Why a value is not a valid answer to a question; undefined when it is valid. */
export async function problemOfAnswer(question: Question, value: unknown): Promise<string | undefined> {
  return (await checkOfAnswers(question))(value);
}

/** The JSON form of an answer, as the tool receives it. Throws E_BAD_ANSWER for a value that JSON cannot represent. */
export function jsonAnswer(value: unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(value));
  } catch (cause) {
    throw new AcorError('E_BAD_ANSWER', `an answer must be a JSON value, got ${String(value)}`, {
      hint: 'Answer with a string, a number, true, false, null, an array or a plain object.',
      cause,
    });
  }
}

async function checkOfSchema(schema: Schema, actionId: string): Promise<AnswerCheck> {
  const { newAjv } = await import('../../registry/schema-check.ts');
  const ajv = await newAjv();
  try {
    const validate = ajv.compile({ ...schema });
    return (value) =>
      validate(value)
        ? undefined
        : `the answer to '${actionId}' does not match its schema: ${ajv.errorsText(validate.errors, { dataVar: 'answer' })}`;
  } catch (error) {
    return () => `the schema of '${actionId}' is invalid: ${errorMessage(error)}`;
  }
}
