import { safeLine } from '../compose/terminal-text.ts';

/** A tool author's text for a model: one line, without hidden characters, and of limited length. */
export function boundedText(text: string, maxChars: number): string {
  const line = safeLine(text).trim();
  return line.length > maxChars ? `${line.slice(0, maxChars)}...` : line;
}

const TEXT_KEYS = ['title', 'description', '$comment'];
const MAX_TEXT_CHARS = 400;

/** An untrusted JSON Schema with the texts in it bounded. */
export function boundedSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(boundedSchema);
  if (typeof schema !== 'object' || schema === null) return schema;
  // Inputs are read from the body alone, so a schema asks no client to repeat them in headers.
  const { 'x-mcp-header': _, ...kept } = schema as Record<string, unknown>;
  return Object.fromEntries(
    Object.entries(kept).map(([key, value]) => [
      key,
      TEXT_KEYS.includes(key) && typeof value === 'string'
        ? boundedText(value, MAX_TEXT_CHARS)
        : boundedSchema(value),
    ]),
  );
}
