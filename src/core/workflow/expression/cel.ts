import { type ASTNode, Environment, EvaluationError, ParseError } from '@marcbachmann/cel-js';

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

/** What is wrong with an expression; `offset` counts characters from its beginning. */
export interface CelProblem {
  message: string;
  offset: number;
}

export interface ParsedCel {
  references: string[][];
  evaluate(scope: object): { value: unknown } | { problem: CelProblem };
}

/** Parses one expression. */
export function parseCel(source: string): ParsedCel | { problem: CelProblem } {
  try {
    const parsed = environment.parse(source);
    const refused = costly(parsed.ast);
    if (refused !== undefined) return { problem: refused };
    return {
      references: referencesIn(parsed.ast),
      evaluate(scope) {
        try {
          return { value: toJson(parsed(scope)) };
        } catch (error) {
          return { problem: problemOf(error) };
        }
      },
    };
  } catch (error) {
    return { problem: problemOf(error) };
  }
}

function problemOf(error: unknown): CelProblem {
  if (error instanceof ParseError || error instanceof EvaluationError) {
    return { message: error.summary, offset: error.range?.start ?? 0 };
  }
  // A mistake of types has a class of its own that is no class of the language's.
  const { summary, range, message } = error as {
    summary?: string;
    range?: { start: number };
    message: string;
  };
  return { message: summary ?? message, offset: range?.start ?? 0 };
}

const LOOPS = ['map', 'filter', 'all', 'exists', 'exists_one'];
const MOST_NESTED_LOOPS = 2;

/** What would end, but nobody could wait for: regular expressions of the host, and loops in loops in loops. */
function costly(ast: ASTNode): CelProblem | undefined {
  const visit = (node: ASTNode, loops: number): CelProblem | undefined => {
    const called = node.op === 'rcall' ? node.args[0] : undefined;
    if (called === 'matches') {
      return {
        message:
          "'matches' is left out: a regular expression may take for ever. Use startsWith, endsWith or contains",
        offset: node.start,
      };
    }
    const inLoops = called !== undefined && LOOPS.includes(called) ? loops + 1 : loops;
    if (inLoops > MOST_NESTED_LOOPS) {
      return { message: `at most ${MOST_NESTED_LOOPS} loops may stand in each other`, offset: node.start };
    }
    for (const child of childrenOf(node)) {
      const found = visit(child, inLoops);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return visit(ast, 0);
}

/** The longest paths that an expression reads, but for the variables of its own loops. */
function referencesIn(ast: ASTNode): string[][] {
  const found: string[][] = [];
  const visit = (node: ASTNode, own: readonly string[]): void => {
    const path = pathOf(node);
    if (path !== undefined) {
      if (!own.includes(path[0]!)) found.push(path);
      return;
    }
    if (node.op === 'rcall' && LOOPS.includes(node.args[0])) {
      const [, receiver, [variable, ...bodies]] = node.args;
      visit(receiver, own);
      const inner = variable?.op === 'id' ? [...own, variable.args] : own;
      for (const body of bodies) visit(body, inner);
      return;
    }
    for (const child of childrenOf(node)) visit(child, own);
  };
  visit(ast, []);
  return found;
}

/** A chain of names and constant keys; undefined for anything else. */
function pathOf(node: ASTNode): string[] | undefined {
  if (node.op === 'id') return [node.args];
  if (node.op === '.') {
    const holder = pathOf(node.args[0]);
    return holder && [...holder, node.args[1]];
  }
  if (node.op !== '[]') return undefined;
  const [holder, key] = [pathOf(node.args[0]), node.args[1]];
  return holder !== undefined && key.op === 'value' ? [...holder, String(key.args)] : undefined;
}

function childrenOf(node: ASTNode): ASTNode[] {
  const children: ASTNode[] = [];
  const collect = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(collect);
    else if (typeof value === 'object' && value !== null && 'op' in value) children.push(value as ASTNode);
  };
  collect(node.args);
  return children;
}

/** Integers of the language become numbers; what JSON cannot hold becomes text. */
function toJson(value: unknown): unknown {
  if (typeof value === 'bigint') {
    const number = Number(value);
    return Number.isSafeInteger(number) ? number : String(value);
  }
  if (Array.isArray(value)) return value.map(toJson);
  if (value instanceof Map) return toJson(Object.fromEntries(value));
  if (typeof value !== 'object' || value === null) return value;
  if (Object.getPrototypeOf(value) !== Object.prototype && Object.getPrototypeOf(value) !== null)
    return String(value);
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, toJson(each)]));
}
