import { errorMessage } from '../../../util/error-code.ts';
import type { Question } from './question.ts';

/** Why a value is no answer to a question; undefined when it is one. An option's id fits, and what fits the schema. */
export async function problemOfAnswer(question: Question, value: unknown): Promise<string | undefined> {
  const { options, schema, actionId } = question;
  if (options?.some((option) => option === value)) return undefined;
  if (schema !== undefined) return problemBySchema(schema, value, actionId);
  if (options === undefined || options.length === 0) return undefined;
  return `${JSON.stringify(value)} is none of the options of '${actionId}': ${options.join(', ')}`;
}

async function problemBySchema(
  schema: Readonly<Record<string, unknown>>,
  value: unknown,
  actionId: string,
): Promise<string | undefined> {
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false, logger: false });
  try {
    const validate = ajv.compile({ ...schema });
    if (validate(value)) return undefined;
    return `the answer to '${actionId}' does not fit its schema: ${ajv.errorsText(validate.errors, { dataVar: 'answer' })}`;
  } catch (error) {
    return `the schema of '${actionId}' cannot be used: ${errorMessage(error)}`;
  }
}
