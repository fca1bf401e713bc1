import type { ASTNode } from '@marcbachmann/cel-js';

const MOST_LOOPS = 5;
const MOST_NESTED_LOOPS = 2;

/**
 * Rejects expressions that could take too long or fill the memory: regular expressions of the host, bound names that
 * double a value repeatedly, and too many loops.
 */
export function refusalOf(ast: ASTNode): CelProblem | undefined {
  let loops = 0;
  const visit = (node: ASTNode, depth: number): CelProblem | undefined => {
    const called = node.op === 'rcall' || node.op === 'call' ? node.args[0] : undefined;
    const refused = called === undefined ? undefined : LEFT_OUT[called];
    if (refused !== undefined) return { message: refused, offset: node.start };
    const loop = loopOf(node);
    if (loop === undefined) return firstOf(childrenOf(node), (child) => visit(child, depth));
    if (++loops > MOST_LOOPS) {
      return { message: `at most ${MOST_LOOPS} loops are allowed in an expression`, offset: node.start };
    }
    if (depth + 1 > MOST_NESTED_LOOPS) {
      return { message: `at most ${MOST_NESTED_LOOPS} nested loops are allowed`, offset: node.start };
    }
    return visit(loop.over, depth) ?? firstOf(loop.bodies, (body) => visit(body, depth + 1));
  };
  return visit(ast, 0);
}

const LEFT_OUT: Readonly<Record<string, string | undefined>> = {
  __proto__: undefined,
  matches:
    "'matches' is not supported, because a regular expression may never end. Use startsWith, endsWith or contains",
  bind: "'bind' is left out: bound values can be doubled until they fill the memory. Write the value where it is used",
};

function firstOf<T, R>(items: readonly T[], find: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** An error in an expression. `offset` counts characters from its start. */
export interface CelProblem {
  message: string;
  offset: number;
  /** What to do about it, where that is known. */
  hint?: string;
}

const LOOPS = ['map', 'filter', 'all', 'exists', 'exists_one'];

/** A comprehension such as `rows.map(r, r.id)`: its list, its variable and its body. */
interface Loop {
  over: ASTNode;
  variable: string | undefined;
  bodies: ASTNode[];
}

/** The parts of a comprehension node. */
function loopOf(node: ASTNode): Loop | undefined {
  if (node.op !== 'rcall' || !LOOPS.includes(node.args[0])) return undefined;
  const [, over, [variable, ...bodies]] = node.args;
  return { over, variable: variable?.op === 'id' ? variable.args : undefined, bodies };
}

/** The direct children of a node. */
function childrenOf(node: ASTNode): ASTNode[] {
  const children: ASTNode[] = [];
  const collect = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(collect);
    else if (isNode(value)) children.push(value);
  };
  collect(node.args);
  return children;
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === 'object' && value !== null && 'op' in value;
}

/** The longest paths that an expression reads, without the variables of its own comprehensions. */
export function referencesIn(ast: ASTNode): string[][] {
  const found: string[][] = [];
  const visit = (node: ASTNode, own: readonly string[]): void => {
    const path = pathOf(node);
    if (path !== undefined) {
      if (!own.includes(path[0]!)) found.push(path);
      return;
    }
    const loop = loopOf(node);
    if (loop === undefined) {
      for (const child of childrenOf(node)) visit(child, own);
      return;
    }
    visit(loop.over, own);
    for (const body of loop.bodies) visit(body, loop.variable === undefined ? own : [...own, loop.variable]);
  };
  visit(ast, []);
  return found;
}

/** A chain of names and constant keys; undefined for any other node. */
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
