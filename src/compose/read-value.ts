import * as z from 'zod';
import { label, type Parameter } from './parameters.ts';
import type { UsageProblem } from './usage-error.ts';

/** A value, or why the text is invalid. */
export type ReadValue = { value: unknown } | { problem: UsageProblem };

const NUMBER = /^[+-]?(\d+(?:\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

/** Converts a text of the command line to the parameter's type; the schema validates it afterwards. */
export function readValue(parameter: Parameter, text: string): ReadValue {
  switch (parameter.kind) {
    case 'string':
      return { value: text };
    case 'integer':
    case 'number':
      return NUMBER.test(text) ? { value: Number(text) } : wrong(parameter, text, 'a number');
    case 'boolean':
      if (text === 'true' || text === 'false') return { value: text === 'true' };
      return wrong(parameter, text, 'true or false');
    case 'json':
      return readJson(parameter, text);
  }
}

// A field that accepts JSON as well as plain text (`z.unknown()`, a union with a string) is first read as JSON.
function readJson(parameter: Parameter, text: string): ReadValue {
  const accepts = (value: unknown) =>
    z.safeParse(parameter.schema, parameter.isArray ? [value] : value).success;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return accepts(text) ? { value: text } : wrong(parameter, text, 'JSON');
  }
  return { value: !accepts(parsed) && accepts(text) ? text : parsed };
}

function wrong(parameter: Parameter, text: string, wanted: string): ReadValue {
  const where = label(parameter);
  return {
    problem: { parameter: where, message: `${where} must be ${wanted}, not ${JSON.stringify(text)}` },
  };
}
