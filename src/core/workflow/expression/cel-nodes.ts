import type { ASTNode } from '@marcbachmann/cel-js';

/** An error in an expression. `offset` counts characters from its start. */
export interface CelProblem {
  message: string;
  offset: number;
}

const LOOPS = ['map', 'filter', 'all', 'exists', 'exists_one'];

/** A comprehension such as `rows.map(r, r.id)`: its list, its variable and its body. */
export interface Loop {
  over: ASTNode;
  variable: string | undefined;
  bodies: ASTNode[];
}

/** The parts of a comprehension node. */
export function loopOf(node: ASTNode): Loop | undefined {
  if (node.op !== 'rcall' || !LOOPS.includes(node.args[0])) return undefined;
  const [, over, [variable, ...bodies]] = node.args;
  return { over, variable: variable?.op === 'id' ? variable.args : undefined, bodies };
}

/** The direct children of a node. */
export function childrenOf(node: ASTNode): ASTNode[] {
  const children: ASTNode[] = [];
  const collect = (value: unknown): void => {
    if (Array.isArray(value)) value.forEach(collect);
    else if (isNode(value)) children.push(value);
  };
  collect(node.args);
  return children;
}

export function isNode(value: unknown): value is ASTNode {
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
