import type { Document, Node, Pair, Scalar, YAMLMap } from 'yaml';
import type { KeyPath } from '../../../config/yaml-file.ts';
import type { Fix } from './fix.ts';

interface Splice {
  from: number;
  to: number;
  text: string;
}

/**
 * Applies fixes to a YAML text. It replaces only the affected characters, found by their offsets in the parsed
 * document, so comments, order and layout stay. It skips a fix whose place is ambiguous.
 */
export async function applyFixes(
  text: string,
  fixes: readonly Fix[],
): Promise<{ text: string; applied: Fix[] }> {
  const yaml = await import('yaml');
  const document = yaml.parseDocument(text, { stringKeys: true });
  const newline = text.includes('\r\n') ? '\r\n' : '\n';
  const splices: Splice[] = [];
  const applied: Fix[] = [];
  for (const fix of fixes) {
    const splice = spliceOf(fix, text, newline, document, yaml);
    const overlaps = (other: Splice) =>
      splice !== undefined && splice.from < other.to && other.from < splice.to;
    if (splice === undefined || splices.some(overlaps)) continue;
    splices.push(splice);
    applied.push(fix);
  }
  // Splice from the end so that earlier offsets stay valid. At the same offset, a replacement comes before an
  // insertion.
  const order = splices
    .map((splice, at) => ({ ...splice, at }))
    .sort((a, b) => b.from - a.from || b.to - a.to || b.at - a.at);
  const changed = order.reduce(
    (rest, { from, to, text: piece }) => rest.slice(0, from) + piece + rest.slice(to),
    text,
  );
  return { text: changed, applied };
}

function spliceOf(
  fix: Fix,
  text: string,
  newline: string,
  document: Document.Parsed,
  yaml: typeof import('yaml'),
): Splice | undefined {
  switch (fix.kind) {
    case 'first-line': {
      const start = text.startsWith('\ufeff') ? 1 : 0;
      return { from: start, to: start, text: `${fix.line}${newline}` };
    }
    case 'key': {
      const key = pairAt(document, [...fix.path, fix.key], yaml)?.key as Scalar | undefined;
      return key?.range ? replaced(key, fix.to) : undefined;
    }
    case 'value': {
      const node = document.getIn(fix.path, true);
      if (!yaml.isScalar(node) || node.anchor !== undefined || node.tag !== undefined) return undefined;
      if (node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED') return undefined;
      return replaced(node, fix.text);
    }
    case 'remove':
      return removed(fix, text, document, yaml);
    case 'add':
      return added(fix, text, newline, document, yaml);
    case 'add-beside':
      return addedBeside(fix, text, newline, document, yaml);
  }
}

function replaced(node: Scalar, text: string): Splice | undefined {
  return node.range ? { from: node.range[0], to: node.range[1], text } : undefined;
}

/** The lines of a key in a block map that has others, or its place in a map of one line. */
function removed(
  { path }: Extract<Fix, { kind: 'remove' }>,
  text: string,
  document: Document.Parsed,
  yaml: typeof import('yaml'),
): Splice | undefined {
  const map = document.getIn(path.slice(0, -1), true);
  const pair = pairAt(document, path, yaml);
  if (!yaml.isMap(map) || map.items.length < 2 || !yaml.isNode(pair?.value)) return undefined;
  const at = yaml.isScalar(pair.key) ? pair.key.range?.[0] : undefined;
  const end = pair.value.range?.[1];
  if (at === undefined || end === undefined) return undefined;
  if (map.flow) return removedInLine(map, pair, { at, end });
  const next = text.indexOf('\n', end - 1);
  return { from: text.lastIndexOf('\n', at - 1) + 1, to: next === -1 ? text.length : next + 1, text: '' };
}

/** With the comma after it; of the last key, with the comma before it. */
function removedInLine(
  map: YAMLMap,
  pair: Pair,
  { at, end }: { at: number; end: number },
): Splice | undefined {
  const index = map.items.indexOf(pair);
  const next = (map.items[index + 1]?.key as Scalar | undefined)?.range?.[0];
  if (next !== undefined) return { from: at, to: next, text: '' };
  const before = (map.items[index - 1]?.value as Node | null | undefined)?.range?.[1];
  return before === undefined ? undefined : { from: before, to: end, text: '' };
}

/** A new line at the top level: after the line of another key, or before the first key. */
function added(
  { line, after }: Extract<Fix, { kind: 'add' }>,
  text: string,
  newline: string,
  document: Document.Parsed,
  yaml: typeof import('yaml'),
): Splice | undefined {
  const map = document.contents;
  if (!yaml.isMap(map) || map.flow) return undefined;
  const before = after === undefined ? undefined : pairAt(document, [after], yaml);
  if (before !== undefined && yaml.isScalar(before.value) && before.value.range) {
    const end = text.indexOf('\n', before.value.range[1]);
    if (end !== -1) return { from: end + 1, to: end + 1, text: `${line}${newline}` };
  }
  const first = (map.items[0]?.key as Scalar | undefined)?.range?.[0];
  const isAtMargin = first !== undefined && (first === 0 || /[\n\ufeff]/.test(text[first - 1]!));
  return isAtMargin ? { from: first, to: first, text: `${line}${newline}` } : undefined;
}

/** A new key in a map: on the same line in a flow map, else on a line of its own with the same indent. */
function addedBeside(
  { path, after, text: piece }: Extract<Fix, { kind: 'add-beside' }>,
  text: string,
  newline: string,
  document: Document.Parsed,
  yaml: typeof import('yaml'),
): Splice | undefined {
  const map = document.getIn(path, true);
  const before = pairAt(document, [...path, after], yaml);
  if (!yaml.isMap(map) || !yaml.isScalar(before?.value) || !yaml.isScalar(before.key)) return undefined;
  const [at, end] = [before.key.range?.[0], before.value.range?.[1]];
  if (at === undefined || end === undefined) return undefined;
  const indent = ' '.repeat(at - (text.lastIndexOf('\n', at - 1) + 1));
  return { from: end, to: end, text: map.flow ? `, ${piece}` : `${newline}${indent}${piece}` };
}

function pairAt(document: Document.Parsed, path: KeyPath, yaml: typeof import('yaml')): Pair | undefined {
  const holder = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  if (!yaml.isMap(holder)) return undefined;
  return holder.items.find(({ key }) => yaml.isScalar(key) && key.value === path.at(-1));
}
