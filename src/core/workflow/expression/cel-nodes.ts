import type { ASTNode } from '@marcbachmann/cel-js';

const LOOPS = ['map', 'filter', 'all', 'exists', 'exists_one'];

/** A loop over a list, such as `rows.map(r, r.id)`: what it goes over, its variable, and what is done with each. */
export interface Loop {
  over: ASTNode;
  variable: string | undefined;
  bodies: ASTNode[];
}

/** The parts of a node that is a loop. */
export function loopOf(node: ASTNode): Loop | undefined {
  if (node.op !== 'rcall' || !LOOPS.includes(node.args[0])) return undefined;
  const [, over, [variable, ...bodies]] = node.args;
  return { over, variable: variable?.op === 'id' ? variable.args : undefined, bodies };
}

/** The nodes directly below a node. */
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
