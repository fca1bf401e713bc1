import { Environment, EvaluationError, ParseError, type ParseResult, serialize } from '@marcbachmann/cel-js';
import { COUNTED, countedLoops, refusalOf } from './cel-cost.ts';
import { type CelProblem, referencesIn } from './cel-nodes.ts';
import { NoJson, toJson } from './to-json.ts';

/** Rounds that all inner loops of an expression may take together, whatever the data. */
const MOST_ROUNDS = 1_000_000;

/** CEL (cel.dev): a small language in which every expression ends. Loaded only where a workflow is read. */
const environment = new Environment({
  unlistedVariablesAreDyn: true,
  homogeneousAggregateLiterals: false,
  limits: { maxAstNodes: 1000, maxDepth: 50, maxListElements: 1000, maxMapEntries: 1000 },
});

// A number of JSON is a double, a number in an expression an integer: people mix them, so the operators do.
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

let rounds = 0;
environment.registerFunction(`${COUNTED}(dyn): dyn`, (list: unknown) => {
  rounds += Array.isArray(list) ? list.length : 1;
  if (rounds > MOST_ROUNDS) throw new Error(`its inner loops take more than ${MOST_ROUNDS} rounds`);
  return list;
});

export interface ParsedCel {
  references: string[][];
  evaluate(scope: object): { value: unknown } | { problem: CelProblem };
}

/** Parses one expression, and finds what can be known to be wrong with its types. */
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
  const counted = countedLoops(ast);
  const run = counted === undefined ? parsed : environment.parse(serialize(counted));
  return {
    references: referencesIn(ast),
    evaluate(scope) {
      rounds = 0;
      try {
        return { value: toJson(run(scope)) };
      } catch (error) {
        // Of an expression with counted loops, the places are others than those that were written.
        return { problem: { ...problemOf(error), ...(counted !== undefined && { offset: 0 }) } };
      }
    },
  };
}

function problemOf(error: unknown): CelProblem {
  if (error instanceof ParseError || error instanceof EvaluationError) {
    return { message: error.summary, offset: error.range?.start ?? 0 };
  }
  if (error instanceof NoJson) return { message: error.message, offset: 0 };
  // A mistake of types has a class of its own that is no class of the language's.
  const { summary, range, message } = error as {
    summary?: string;
    range?: { start: number };
    message: string;
  };
  return { message: summary ?? message, offset: range?.start ?? 0 };
}
