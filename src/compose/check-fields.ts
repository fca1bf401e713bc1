import type * as z from 'zod';
import { nearest } from '../util/nearest.ts';
import { didYouMean, type UsageProblem } from './app-error.ts';
import { describeIssue } from './describe-issue.ts';
import { type Parametrized, parametersOf } from './parameters.ts';

/** What is wrong with an object that a program passes: unknown fields, and the issues of its schema. The check must use `PLAIN_WORDS`. */
export function checkFields(
  declared: Parametrized,
  given: Readonly<Record<string, unknown>>,
  result: z.ZodSafeParseResult<Record<string, unknown>>,
  noun = 'parameter',
): { problems: UsageProblem[]; value: Record<string, unknown> } {
  const parameters = parametersOf(declared);
  const names = parameters.map(({ key }) => key);
  // A program may pass anything: the schema refuses what is not an object.
  const keys = typeof given === 'object' && given !== null && !Array.isArray(given) ? Object.keys(given) : [];
  const unknown = keys.filter((key) => !names.includes(key));
  const problems = [
    ...unknown.map((key) => ({
      parameter: key,
      message: `there is no ${noun} ${JSON.stringify(key)}`,
      fix: `${noun[0]!.toUpperCase()}${noun.slice(1)}s: ${names.join(', ')}.`,
      ...didYouMean(nearest(key, names)),
    })),
    ...(result.error?.issues ?? []).map((issue) =>
      describeIssue(issue, parameters, given, (parameter) => parameter?.key ?? 'the input'),
    ),
  ];
  return { problems, value: result.data ?? {} };
}
