import { estimateTokens } from '../util/estimate-tokens.ts';
import type { Selection } from './select.ts';

/** The requested part of a stream of JSON lines: its lines from `offset` on, at most `limit`, and only their `fields`; a line without any of these is left out. */
export async function* selectLines(
  chunks: AsyncIterable<Uint8Array>,
  { fields, limit = Number.POSITIVE_INFINITY, offset = 0, maxTokens = Number.POSITIVE_INFINITY }: Selection,
): AsyncGenerator<Uint8Array> {
  let index = 0;
  let tokens = 0;
  if (limit === 0) return;
  for await (const chunk of chunks) {
    const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length).toString('utf8');
    for (const line of text.split('\n')) {
      if (line === '') continue;
      const shown = fields === undefined ? line : fieldsOf(line, fields);
      if (shown === '{}' || index++ < offset) continue;
      tokens += estimateTokens(shown);
      if (tokens > maxTokens && index > offset + 1) return;
      yield Buffer.from(`${shown}\n`);
      if (index - offset >= limit) return;
    }
  }
}

function fieldsOf(line: string, fields: readonly string[]): string {
  const whole: unknown = JSON.parse(line);
  const kept = emptyRecord();
  for (const path of fields) {
    const names = path.split('.');
    const value = names.reduce<unknown>(fieldOf, whole);
    if (value === undefined) continue;
    let place = kept;
    for (const name of names.slice(0, -1)) {
      place[name] ??= emptyRecord();
      place = place[name] as Record<string, unknown>;
    }
    place[names.at(-1)!] = value;
  }
  return JSON.stringify(kept);
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Record<string, unknown>)[name];
}

/** Without a prototype: a field may have any name. */
function emptyRecord(): Record<string, unknown> {
  return Object.create(null);
}
