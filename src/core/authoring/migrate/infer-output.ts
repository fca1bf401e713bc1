import type { OutputFormat } from '../../../protocol/manifest-output.ts';
import { printed } from '../contract/printed.ts';

const MAX_DEPTH = 3;
/** Two names at least, in capitals, with two spaces or more between them. */
const TABLE_HEAD =
  /^\s*[A-Z][A-Z0-9_%/.-]*(?: [A-Z][A-Z0-9_%/.-]*)*(?: {2,}[A-Z][A-Z0-9_%/.-]*(?: [A-Z][A-Z0-9_%/.-]*)*)+\s*$/;
const PAIR = /^[A-Za-z][\w .()/-]*: /;

/** The form of a recorded output, where its text shows one; `text` where an author has to declare it. */
export function formOf(stdout: string): OutputFormat {
  const { kind } = printed(stdout);
  if (kind === 'json' || kind === 'jsonl') return kind;
  const lines = stdout.split('\n').filter((line) => line.trim() !== '');
  const [first = ''] = lines;
  if (lines.length === 0) return 'text';
  if (lines.length > 1 && TABLE_HEAD.test(first)) return 'table';
  const own = lines.filter((line) => !/^\s/.test(line));
  if (lines.length > 1 && own.every((line) => PAIR.test(line) || /^[A-Za-z][\w-]*:$/.test(line)))
    return /\n\s*\n\s*\S/.test(stdout) ? 'paragraphs' : 'pairs';
  return lines.every((line) => /^\S+$/.test(line)) ? 'lines' : 'text';
}

/** A JSON Schema that recorded data fits: the names and types that were seen, none of them required. */
export function schemaOf(data: unknown, depth = 0): Record<string, unknown> {
  if (data === null || depth > MAX_DEPTH) return {};
  if (Array.isArray(data)) {
    const items = joined(data.map((each) => schemaOf(each, depth + 1)));
    return { type: 'array', ...(Object.keys(items).length > 0 && { items }) };
  }
  if (typeof data !== 'object') return { type: typeof data };
  const properties = Object.entries(data as Record<string, unknown>).map(([name, value]) => [
    name,
    nullable(schemaOf(value, depth + 1)),
  ]);
  return { type: 'object', properties: Object.fromEntries(properties) };
}

/** A value that was there once may be missing in another record. */
function nullable({ type, ...rest }: Record<string, unknown>): Record<string, unknown> {
  return typeof type === 'string' ? { type: [type, 'null'], ...rest } : rest;
}

/** One schema for all elements: objects by their fields, other types as long as they agree. */
function joined(schemas: readonly Record<string, unknown>[]): Record<string, unknown> {
  const [first = {}] = schemas;
  if (!schemas.every((each) => JSON.stringify(each['type']) === JSON.stringify(first['type']))) return {};
  if (first['type'] !== 'object')
    return schemas.every((each) => JSON.stringify(each) === JSON.stringify(first)) ? first : typeOnly(first);
  const fields = new Map<string, Record<string, unknown>[]>();
  for (const { properties } of schemas)
    for (const [name, schema] of Object.entries(properties as Record<string, Record<string, unknown>>))
      fields.set(name, [...(fields.get(name) ?? []), schema]);
  const properties = [...fields].map(([name, each]) => [name, joined(each)]);
  return { type: 'object', properties: Object.fromEntries(properties) };
}

function typeOnly({ type }: Record<string, unknown>): Record<string, unknown> {
  return type === undefined ? {} : { type };
}
