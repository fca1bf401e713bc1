import type { ASTNode } from '@marcbachmann/cel-js';
import { childrenOf, loopOf } from './cel-nodes.ts';

/** The longest paths that an expression reads, but for the variables of its own loops. */
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
