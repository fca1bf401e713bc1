import { type JsonNode, readJsonSource } from './json-source.ts';

type Container = Extract<JsonNode, { kind: 'object' | 'array' }>;

/**
 * Puts a value into a JSON text, at a path of keys, and leaves all other bytes as they are. Undefined where the text is no JSON, or
 * where the path leads through something that is no object.
 */
export function setInJson(text: string, path: readonly string[], value: unknown): string | undefined {
  const root = rootOf(text);
  if (root === undefined) return undefined;
  let node = root.node;
  for (const [depth, key] of path.entries()) {
    if (node.kind !== 'object') return undefined;
    const member = node.members.findLast((each) => each.key === key);
    if (member === undefined) {
      const rest = path.slice(depth + 1).reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);
      return inserted(root.text, node, depth, rest, `${JSON.stringify(key)}: `);
    }
    node = member.node;
  }
  return replaced(root.text, node, path.length, value);
}

/** The same for an element of an array: it takes the place of the element with that index, or comes last where there is none. */
export function setItemInJson(
  text: string,
  path: readonly string[],
  index: number | undefined,
  value: unknown,
): string | undefined {
  const root = rootOf(text);
  if (root === undefined) return undefined;
  const array = nodeAt(root.node, path);
  if (array === undefined) return setInJson(text, path, [value]);
  if (array.kind !== 'array') return undefined;
  const item = index === undefined ? undefined : array.items[index];
  if (item !== undefined) return replaced(root.text, item, path.length + 1, value);
  return inserted(root.text, array, path.length, value, '');
}

/** The node at a path of keys; undefined where there is none. */
export function nodeAt(root: JsonNode, path: readonly string[]): JsonNode | undefined {
  return path.reduce<JsonNode | undefined>(
    (node, key) =>
      node?.kind === 'object' ? node.members.findLast((each) => each.key === key)?.node : undefined,
    root,
  );
}

/** An empty file is taken for an empty object. */
function rootOf(text: string): { text: string; node: JsonNode } | undefined {
  const whole = text.trim() === '' ? '{}\n' : text;
  const node = readJsonSource(whole);
  return node?.kind === 'object' ? { text: whole, node } : undefined;
}

function replaced(text: string, node: JsonNode, depth: number, value: unknown): string {
  const before = text.slice(node.start, node.end);
  const piece = before.includes('\n') ? written(value, depth, unitOf(text)) : JSON.stringify(value);
  return text.slice(0, node.start) + piece + text.slice(node.end);
}

function inserted(text: string, into: Container, depth: number, value: unknown, label: string): string {
  const unit = unitOf(text);
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const isEmpty = (into.kind === 'object' ? into.members : into.items).length === 0;
  const inside = text.slice(into.start + 1, into.end - 1);
  const isOneLine = !isEmpty && !inside.includes('\n');
  const piece = label + (isOneLine ? JSON.stringify(value) : written(value, depth + 1, unit));
  const comma = isEmpty || into.endsWithComma ? '' : ',';
  const gap = isOneLine ? ' ' : newline + unit.repeat(depth + 1);
  // What stands in a container without members can only be blank, or a comment, which stays.
  const isBlank = isEmpty && inside.trim() === '';
  const after = isBlank ? newline + unit.repeat(depth) : '';
  const rest = isBlank ? text.slice(into.end - 1) : text.slice(into.insertAt);
  const closing = isEmpty && !isBlank && !/^\s*\n/.test(rest) ? newline : '';
  return text.slice(0, into.insertAt) + comma + gap + piece + after + closing + rest;
}

function written(value: unknown, depth: number, unit: string): string {
  return JSON.stringify(value, null, unit).replaceAll('\n', `\n${unit.repeat(depth)}`);
}

/** By what a level is indented: as the first line that is. */
function unitOf(text: string): string {
  return /\n([ \t]+)\S/.exec(text)?.[1] ?? '  ';
}
