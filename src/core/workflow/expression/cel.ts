import { Environment, EvaluationError, ParseError, type ParseResult } from '@marcbachmann/cel-js';
import { TooCostly } from '../../../protocol/too-costly.ts';
import { type CelProblem, referencesIn, refusalOf } from './cel-nodes.ts';
import { type Checked, WorkMeter } from './work-meter.ts';

/**
 * CEL (cel.dev) is a small language in which every expression terminates. It is loaded only when a workflow is read.
 */
const environment = new Environment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  limits: { maxAstNodes: 1000, maxDepth: 50, maxListElements: 1000, maxMapEntries: 1000 },
});

// A JSON number is a double and a number literal in CEL is an integer. Authors mix the two, so the operators accept
// both.
const ARITHMETIC = {
  '+': (a: number, b: number) => a + b,
  '-': (a: number, b: number) => a - b,
  '*': (a: number, b: number) => a * b,
  '/': (a: number, b: number) => a / b,
  '%': (a: number, b: number) => a % b,
};
for (const [operator, compute] of Object.entries(ARITHMETIC)) {
  const pairs = [['double', 'int'], ['int', 'double'], ...(operator === '%' ? [['double', 'double']] : [])];
  for (const [left, right] of pairs) {
    environment.registerOperator(`${left} ${operator} ${right}`, (a, b) => compute(Number(a), Number(b)));
  }
}

const meter = new WorkMeter();

export interface ParsedCel {
  references: string[][];
  evaluate(scope: object): { value: unknown } | { problem: CelProblem };
}

/** Parses one expression and checks its types as far as they are known. */
export function parseCel(source: string): ParsedCel | { problem: CelProblem } {
  let parsed: ParseResult;
  try {
    parsed = environment.parse(source);
    const refused = refusalOf(parsed.ast);
    if (refused !== undefined) return { problem: refused };
    const { error } = parsed.check();
    if (error !== undefined) return { problem: problemOf(error) };
  } catch (error) {
    return { problem: problemOf(error) };
  }
  const { ast } = parsed;
  meter.attach(ast as unknown as Checked);
  return {
    references: referencesIn(ast),
    evaluate(scope) {
      meter.restart();
      try {
        const value: unknown = parsed(scope);
        meter.spendAll(value);
        return { value: toJson(value) };
      } catch (error) {
        return { problem: problemOf(error) };
      }
    },
  };
}

function problemOf(error: unknown): CelProblem {
  if (error instanceof ParseError || error instanceof EvaluationError) {
    return { message: error.summary, offset: error.range?.start ?? 0 };
  }
  if (error instanceof TooCostly)
    return {
      message: error.message,
      offset: 0,
      hint: 'Let a tool compute it, or read a smaller part of the data.',
    };
  if (error instanceof NoJson) return { message: error.message, offset: 0 };
  // The CEL library does not export the class of its type errors.
  const { summary, range, message } = error as {
    summary?: string;
    range?: { start: number };
    message: string;
  };
  return { message: summary ?? message, offset: range?.start ?? 0 };
}

/** Thrown for a CEL value that JSON cannot represent. */
class NoJson extends Error {}

/** Converts CEL integers to numbers, and timestamps and bytes to strings. */
function toJson(value: unknown): unknown {
  switch (typeof value) {
    case 'bigint': {
      const number = Number(value);
      return Number.isSafeInteger(number) ? number : String(value);
    }
    case 'number':
      if (!Number.isFinite(value)) throw new NoJson(`its value is ${value}, which JSON cannot express`);
      return value;
    case 'string':
    case 'boolean':
      return value;
    case 'object':
      return value === null ? null : objectToJson(value);
    default:
      throw new NoJson('its value cannot be expressed in JSON');
  }
}

function objectToJson(value: object): unknown {
  if (Array.isArray(value)) return value.map(toJson);
  if (value instanceof Map) return objectToJson(Object.fromEntries(value));
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  const prototype = Object.getPrototypeOf(value);
  // The remaining classes of the CEL library: durations, unsigned integers, types.
  if (prototype !== Object.prototype && prototype !== null) return String(value);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, toJson(each)]));
}
