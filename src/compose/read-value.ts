import * as z from 'zod';
import { label, type Parameter } from './parameters.ts';
import type { UsageProblem } from './usage-error.ts';

/** A value, or what is wrong with the text. */
export type ReadValue = { value: unknown } | { problem: UsageProblem };

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/** Turns one text of the command line into a value of the parameter's kind; the schema judges it afterwards. */
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

// A field that takes JSON as well as bare text (`z.unknown()`, a union with a string) gets the JSON reading first.
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
