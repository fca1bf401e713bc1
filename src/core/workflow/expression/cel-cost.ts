import type { ASTNode } from '@marcbachmann/cel-js';
import type { CelProblem } from './cel-nodes.ts';
import { childrenOf, isNode, loopOf } from './cel-nodes.ts';

const MOST_LOOPS = 5;
const MOST_NESTED_LOOPS = 2;

/** The function that counts the iterations of inner loops. */
export const COUNTED = '_counted';

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
  [COUNTED]: `'${COUNTED}' is not a function`,
};

/**
 * The expression with calls that first count the elements of each inner loop and search; undefined when there are none.
 */
export function countedLoops(ast: ASTNode): ASTNode | undefined {
  let isChanged = false;
  const counted = (node: ASTNode): ASTNode => {
    isChanged = true;
    return { op: 'call', args: [COUNTED, [node]] } as unknown as ASTNode;
  };
  const copy = (node: ASTNode, inLoop: boolean): ASTNode => {
    const each = (value: unknown, within: boolean): unknown =>
      Array.isArray(value)
        ? value.map((item) => each(item, within))
        : isNode(value)
          ? copy(value, within)
          : value;
    const loop = loopOf(node);
    if (loop !== undefined && node.op === 'rcall') {
      const [name, , [variable]] = node.args;
      const over = copy(loop.over, inLoop);
      const bodies = loop.bodies.map((body) => copy(body, true));
      return { op: 'rcall', args: [name, inLoop ? counted(over) : over, [variable, ...bodies]] } as ASTNode;
    }
    if (node.op === 'in' && inLoop) {
      return { op: 'in', args: [copy(node.args[0], true), counted(copy(node.args[1], true))] } as ASTNode;
    }
    return { op: node.op, args: each(node.args, inLoop) } as ASTNode;
  };
  const copied = copy(ast, false);
  return isChanged ? copied : undefined;
}

function firstOf<T, R>(items: readonly T[], find: (item: T) => R | undefined): R | undefined {
  for (const item of items) {
    const found = find(item);
    if (found !== undefined) return found;
  }
  return undefined;
}
