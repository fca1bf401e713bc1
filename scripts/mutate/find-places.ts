import { type Node, type SourceFile, SyntaxKind } from 'typescript/unstable/ast';
import {
  isArrayLiteralExpression,
  isAwaitExpression,
  isBinaryExpression,
  isBlock,
  isCallExpression,
  isConditionalExpression,
  isExpressionStatement,
  isFunctionLikeDeclaration,
  isIfStatement,
  isLiteralTypeNode,
  isNumericLiteral,
  isPrefixUnaryExpression,
  isReturnStatement,
  isVariableDeclaration,
  isWhileStatement,
} from 'typescript/unstable/ast/is';

/** One edit of a source text: the characters from `start` to `end` become `text`. */
export interface Edit {
  start: number;
  end: number;
  text: string;
}

/** A place where a fault can be put, with every fault of that kind that is possible there. A sample takes at most one of them. */
export interface Place {
  operator: string;
  edits: readonly Edit[];
}

const SWAPPED: Readonly<Record<number, readonly [operator: string, text: string]>> = {
  [SyntaxKind.LessThanToken]: ['bound', '<='],
  [SyntaxKind.LessThanEqualsToken]: ['bound', '<'],
  [SyntaxKind.GreaterThanToken]: ['bound', '>='],
  [SyntaxKind.GreaterThanEqualsToken]: ['bound', '>'],
  [SyntaxKind.AmpersandAmpersandToken]: ['and/or', '||'],
  [SyntaxKind.BarBarToken]: ['and/or', '&&'],
  [SyntaxKind.EqualsEqualsEqualsToken]: ['negated condition', '!=='],
  [SyntaxKind.ExclamationEqualsEqualsToken]: ['negated condition', '==='],
};

/** A duration that is a millisecond or a second longer is no fault that a test could find, so these constants are left alone. */
const DURATION = /(?:_MS|_S|Ms)$/;

/** What a removed statement leaves. TypeScript refuses an `if` with only a semicolon. */
const EMPTY = '{}';

const SYNC = /(?:^|\.|#)(?:fsync|fdatasync|fsyncSync|fdatasyncSync|sync|syncFolder|datasync)$/;

/** The places of one file for the faults that `npm run mutate` makes, in the order of the text. */
export function findPlaces(file: SourceFile): Place[] {
  const places: Place[] = [];
  visit(file);
  return places.sort((a, b) => a.edits[0]!.start - b.edits[0]!.start);

  function visit(node: Node): void {
    if (node.kind === SyntaxKind.ImportDeclaration || node.kind === SyntaxKind.ExportDeclaration) return;
    const found = placeAt(node, file);
    if (found !== undefined && found.edits.length > 0) places.push(found);
    node.forEachChild((child) => visit(child));
  }
}

function placeAt(node: Node, file: SourceFile): Place | undefined {
  if (isIfStatement(node) || isWhileStatement(node)) return negated(node.expression, file);
  if (isConditionalExpression(node)) return negated(node.condition, file);
  if (isBinaryExpression(node)) return inBinary(node.left, node.operatorToken, node.right, file);
  if (isExpressionStatement(node)) return removedCall(node.expression, node, file);
  if (isReturnStatement(node) && !isLastOfFunction(node)) {
    return { operator: 'return removed', edits: [replace(node, file, EMPTY)] };
  }
  if (isNumericLiteral(node)) return otherNumber(node, file);
  const isTrue = node.kind === SyntaxKind.TrueKeyword;
  if ((isTrue || node.kind === SyntaxKind.FalseKeyword) && !isLiteralTypeNode(node.parent)) {
    return { operator: 'boolean flipped', edits: [replace(node, file, isTrue ? 'false' : 'true')] };
  }
  if (isArrayLiteralExpression(node)) return removedEntry([...node.elements], file);
  return undefined;
}

function negated(condition: Node, file: SourceFile): Place | undefined {
  // An equality is negated by its own operator, so that the fault is not made twice.
  if (isBinaryExpression(condition) && SWAPPED[condition.operatorToken.kind]?.[0] === 'negated condition')
    return undefined;
  const text = condition.getText(file);
  const isNot = isPrefixUnaryExpression(condition) && condition.operator === SyntaxKind.ExclamationToken;
  const edit = replace(condition, file, isNot ? text.slice(1) : `!(${text})`);
  return { operator: 'negated condition', edits: [edit] };
}

function inBinary(left: Node, operator: Node, right: Node, file: SourceFile): Place | undefined {
  const [start, end] = [left.getStart(file), right.getEnd()];
  if (operator.kind === SyntaxKind.QuestionQuestionToken) {
    const edits = [left, right].map((kept) => ({ start, end, text: kept.getText(file) }));
    return { operator: '?? dropped', edits };
  }
  const swapped = SWAPPED[operator.kind];
  return swapped && { operator: swapped[0], edits: [replace(operator, file, swapped[1])] };
}

function removedCall(expression: Node, statement: Node, file: SourceFile): Place | undefined {
  const call = isAwaitExpression(expression) ? expression.expression : expression;
  if (!isCallExpression(call) || call.expression.kind === SyntaxKind.SuperKeyword) return undefined;
  const operator = SYNC.test(call.expression.getText(file)) ? 'sync removed' : 'call removed';
  return { operator, edits: [replace(statement, file, EMPTY)] };
}

function otherNumber(node: Node, file: SourceFile): Place | undefined {
  const text = node.getText(file);
  const value = Number(text.replaceAll('_', ''));
  if (!Number.isSafeInteger(value) || isLiteralTypeNode(node.parent) || isDuration(node, file))
    return undefined;
  const values = value === 0 ? [1] : [value + 1, value - 1];
  return { operator: 'constant', edits: values.map((other) => replace(node, file, String(other))) };
}

/** The last entry of a list takes the comma before it along, every other one the comma after it. */
function removedEntry(entries: readonly Node[], file: SourceFile): Place {
  const edits = entries.map((entry, index) => {
    const [before, after] = [entries[index - 1], entries[index + 1]];
    if (after !== undefined) return { start: entry.getStart(file), end: after.getStart(file), text: '' };
    return { start: before?.getEnd() ?? entry.getStart(file), end: entry.getEnd(), text: '' };
  });
  return { operator: 'entry removed', edits };
}

function replace(node: Node, file: SourceFile, text: string): Edit {
  return { start: node.getStart(file), end: node.getEnd(), text };
}

function isLastOfFunction(statement: Node): boolean {
  const { parent } = statement;
  if (!isBlock(parent) || parent.statements.at(-1) !== statement) return false;
  return isFunctionLikeDeclaration(parent.parent);
}

function isDuration(node: Node, file: SourceFile): boolean {
  for (let at: Node | undefined = node.parent; at !== undefined; at = at.parent) {
    if (isVariableDeclaration(at)) return DURATION.test(at.name.getText(file));
    if (isBlock(at) || isFunctionLikeDeclaration(at)) return false;
  }
  return false;
}
