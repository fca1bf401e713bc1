import { applyEdits, getNodeValue, modify, type Node, type ParseError, parseTree } from 'jsonc-parser';

/**
 * Reads the JSON of an agent's settings, in which comments and trailing commas are allowed; an empty file is an empty object. Undefined
 * when the text is not such an object.
 */
export function readJsonObject(text: string): Node | undefined {
  const errors: ParseError[] = [];
  try {
    // The parser reports a byte order mark as an error; a space keeps all offsets.
    const root = parseTree(sourceOf(text).replace(/^\ufeff/, ' '), errors, { allowTrailingComma: true });
    return errors.length === 0 && root?.type === 'object' ? root : undefined;
  } catch (error) {
    // The parser recurses: a text with many thousands of levels exhausts the stack.
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The value at a path of keys; undefined when it does not exist. */
export function jsonValueAt(root: Node, path: readonly string[]): unknown {
  const { node, depth } = nearestNode(root, path);
  // The parser makes objects without a prototype, which equal no literal in `isDeepStrictEqual`.
  return depth === path.length ? JSON.parse(JSON.stringify(getNodeValue(node))) : undefined;
}

/**
 * Sets the value at a path and leaves all other bytes as they are. A number in the path is an index into an array; an index without an
 * element appends. Undefined when the text is not a JSON object, or when the path leads through a value of another type.
 */
export function setInJson(
  text: string,
  path: readonly (string | number)[],
  value: unknown,
): string | undefined {
  const root = readJsonObject(text);
  if (root === undefined) return undefined;
  const source = sourceOf(text);
  const { node, depth } = nearestNode(root, path);
  if (depth === path.length) return replaced(source, node, depth, value);
  const key = path[depth]!;
  if (node.type !== (typeof key === 'string' ? 'object' : 'array')) return undefined;
  const rest = path
    .slice(depth + 1)
    .reduceRight<unknown>((inner, each) => (typeof each === 'string' ? { [each]: inner } : [inner]), value);
  return inserted(source, node, depth, typeof key === 'string' ? `${JSON.stringify(key)}: ` : '', rest);
}

/**
 * Removes the value at a path, and the containers that it leaves empty, but those of `stood`. An empty text when nothing else is in it;
 * undefined when the text is not a JSON object, or has no such value.
 */
export function removeFromJson(
  text: string,
  path: readonly (string | number)[],
  stood: readonly string[] = [],
): string | undefined {
  const root = readJsonObject(text);
  if (root === undefined || nearestNode(root, path).depth < path.length) return undefined;
  const { node } = nearestNode(root, path);
  const cut = withoutOneOf(text, node);
  if (cut !== undefined) return cut;
  const above = path.slice(0, -1);
  if (stood.includes(containerName(above))) return withoutOnly(text, node);
  const edits = modify(text.replace(/^\ufeff/, ' '), [...path], undefined, {});
  const left = applyEdits(text, edits);
  if (/^\ufeff?\s*\{\s*\}\s*$/.test(left)) return '';
  const parent = nearestNode(readJsonObject(left)!, above).node;
  return above.length > 0 && parent.children?.length === 0 ? removeFromJson(left, above, stood) : left;
}

/** The text without the only member of a container, whose comments stay; without any, it is on one line. */
function withoutOnly(text: string, value: Node): string {
  const member = memberOf(value);
  const { offset, length } = member.parent!;
  const [start, end] = [offset + 1, offset + length - 1];
  const after = text.slice(member.offset + member.length, end).replace(TRAILING_COMMA, '');
  const left = text.slice(start, member.offset).replace(BLANK_END, '') + after;
  return text.slice(0, start) + (left.trim() === '' ? '' : left) + text.slice(end);
}

/** The objects and lists on the way to a path that a text has, by their names; that of the whole is empty. */
export function containersIn(text: string, path: readonly string[]): string[] {
  const root = readJsonObject(text);
  if (root === undefined || text.trim() === '') return [];
  const { depth } = nearestNode(root, path);
  return path.slice(0, depth + 1).map((_, length) => containerName(path.slice(0, length)));
}

function containerName(path: readonly (string | number)[]): string {
  return path.join('.');
}

/** The text without one of several members, and without the comma that it needed; undefined for the only one. */
function withoutOneOf(text: string, value: Node): string | undefined {
  const member = memberOf(value);
  const siblings = member.parent?.children ?? [];
  if (siblings.length < 2) return undefined;
  const at = siblings.indexOf(member);
  const [before, end] = [text.slice(0, member.offset), member.offset + member.length];
  const comma = TRAILING_COMMA.exec(text.slice(end))?.[0];
  if (comma === undefined) return withoutCommaAfter(siblings[at - 1]!, before) + text.slice(end);
  const after = text.slice(end + comma.length);
  // On one line the blank after the comma goes, else the line of the member.
  if (at === 0 && /^[ \t]*\S/.test(after)) return before + after.trimStart();
  return before.replace(BLANK_END, '') + after;
}

/** The text before the last member, without the comma after the member in front of it and the blanks after that. */
function withoutCommaAfter({ offset, length }: Node, before: string): string {
  const end = offset + length;
  const comma = end + TRAILING_COMMA.exec(before.slice(end))![0].length - 1;
  return before.slice(0, comma) + before.slice(comma + 1).replace(BLANK_END, '');
}

/** What a container holds for a value: the property, or the value itself in a list. */
function memberOf(value: Node): Node {
  return value.parent?.type === 'property' ? value.parent : value;
}

function sourceOf(text: string): string {
  return text.trim() === '' ? '{}\n' : text;
}

/** The deepest existing node along a path, and the number of keys that lead to it. */
function nearestNode(root: Node, path: readonly (string | number)[]): { node: Node; depth: number } {
  let node = root;
  for (const [depth, key] of path.entries()) {
    const next = childOf(node, key);
    if (next === undefined) return { node, depth };
    node = next;
  }
  return { node, depth: path.length };
}

/** Of members with the same key the last one counts, as in `JSON.parse`; the parser's own lookup uses the first. */
function childOf(node: Node, key: string | number): Node | undefined {
  if (node.type === 'array') return typeof key === 'number' ? node.children?.[key] : undefined;
  return node.children?.findLast((member) => member.children?.[0]?.value === key)?.children?.[1];
}

function replaced(source: string, node: Node, depth: number, value: unknown): string {
  const end = node.offset + node.length;
  const isOneLine = !source.slice(node.offset, end).includes('\n');
  const piece = isOneLine ? JSON.stringify(value) : written(value, depth, unitOf(source));
  return source.slice(0, node.offset) + piece + source.slice(end);
}

function inserted(source: string, into: Node, depth: number, label: string, value: unknown): string {
  const unit = unitOf(source);
  const newline = source.includes('\r\n') ? '\r\n' : '\n';
  const last = into.children?.at(-1);
  const end = into.offset + into.length - 1;
  const inside = source.slice(into.offset + 1, end);
  if (last === undefined) {
    const piece = `${newline}${unit.repeat(depth + 1)}${label}${written(value, depth + 1, unit)}`;
    const closing = newline + unit.repeat(depth);
    // A comment in an otherwise empty container stays, in front of the new value.
    return source.slice(0, into.offset + 1) + inside.trimEnd() + piece + closing + source.slice(end);
  }
  const isOneLine = !inside.includes('\n');
  const piece = isOneLine
    ? ` ${label}${JSON.stringify(value)}`
    : `${newline}${unit.repeat(depth + 1)}${label}${written(value, depth + 1, unit)}`;
  const lastEnd = last.offset + last.length;
  const trailingComma = TRAILING_COMMA.exec(source.slice(lastEnd, end))?.[0];
  if (trailingComma === undefined) return `${source.slice(0, lastEnd)},${piece}${source.slice(lastEnd)}`;
  // A comment on the line of the comma is about the member before it.
  const afterComma = lastEnd + trailingComma.length;
  const comment = isOneLine ? '' : (SAME_LINE_COMMENT.exec(source.slice(afterComma, end))?.[0] ?? '');
  const at = afterComma + comment.length;
  return `${source.slice(0, at)}${piece},${source.slice(at)}`;
}

const BLANK_END = /(?:\r?\n)?[ \t]*$/;

const SAME_LINE_COMMENT = /^[ \t]*\/\/[^\n\r]*/;

/** A comment can be read in one way only: otherwise a line of slashes would take exponential time. */
const TRAILING_COMMA = /^(?:\s|\/\/.*\n|\/\*(?:[^*]|\*(?!\/))*\*\/)*,/;

function written(value: unknown, depth: number, unit: string): string {
  return JSON.stringify(value, null, unit).replaceAll('\n', `\n${unit.repeat(depth)}`);
}

/** The indentation of the first indented line. */
function unitOf(source: string): string {
  return /\n([ \t]+)\S/.exec(source)?.[1] ?? '  ';
}
