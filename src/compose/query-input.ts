import { type UsageProblem, usageError } from './app-error.ts';
import { readTexts } from './input.ts';
import type { OperationDescription } from './operation.ts';
import { parametersOf } from './parameters.ts';
import type { Selection } from './select.ts';

/**
 * The input of an operation and the requested part of its answer, from a query string: names as in the input, and a list
 * by repeating the name. Throws one E_USAGE with every problem. The call checks the names and the values against the schema.
 */
export function readQuery(
  op: OperationDescription,
  query: URLSearchParams,
): { input: Record<string, unknown>; selection: Partial<Selection> } {
  const problems: UsageProblem[] = [];
  const input: Record<string, unknown> = {};
  const selection: Partial<Selection> = {};
  for (const key of new Set(query.keys())) {
    const texts = query.getAll(key);
    const parameter = parametersOf(op).find((each) => each.key === key);
    if (parameter !== undefined && !parameter.isArray && texts.length > 1)
      problems.push({ parameter: key, message: `${key} is repeated; it takes one value` });
    else if (parameter !== undefined) input[key] = readTexts(parameter, texts, problems);
    else if (key === 'fields') selection.fields = texts.flatMap((text) => text.split(','));
    else if (key === 'limit' || key === 'offset') selection[key] = readCount(key, texts, problems);
    else input[key] = texts;
  }
  if (problems.length > 0) throw usageError(problems);
  return { input, selection };
}

function readCount(name: string, texts: readonly string[], problems: UsageProblem[]): number | undefined {
  const [text, ...others] = texts;
  if (text !== undefined && others.length === 0 && /^\d{1,15}$/.test(text)) return Number(text);
  problems.push({ parameter: name, message: `${name} must be a whole number that is not negative` });
  return undefined;
}
