/** What a program printed, as data. */
export type Printed =
  | { kind: 'nothing' }
  | { kind: 'json'; value: unknown }
  | { kind: 'jsonl'; values: unknown[] }
  /** JSON with other text before or after it. */
  | { kind: 'mixed' }
  | { kind: 'text' };

/** Reads an output as JSON or JSON lines. */
export function printed(text: string): Printed {
  const whole = text.trim();
  if (whole === '') return { kind: 'nothing' };
  const value = parsed(whole);
  if (value !== undefined && isContainer(value)) return { kind: 'json', value };
  const lines = whole.split('\n').map((line) => parsed(line.trim()));
  const objects = lines.filter((line) => line !== undefined && isContainer(line));
  if (objects.length > 1 && objects.length === lines.length) return { kind: 'jsonl', values: objects };
  return objects.length > 0 || hasDocument(whole) ? { kind: 'mixed' } : { kind: 'text' };
}

/** A document over several lines, with other lines around it. */
function hasDocument(text: string): boolean {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => /^[[{]\s*$/.test(line));
  const end = lines.findLastIndex((line) => /^[\]}]\s*$/.test(line));
  return start >= 0 && end > start && parsed(lines.slice(start, end + 1).join('\n')) !== undefined;
}

function parsed(text: string): unknown {
  if (!/^[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isContainer(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

/** The fields of an object; undefined for anything else. */
export function fieldsOf(value: unknown): Record<string, unknown> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : undefined;
}

/** The envelope of the contract in an output. */
export function envelopeIn(text: string): Record<string, unknown> | undefined {
  const document = printed(text);
  const fields = document.kind === 'json' ? fieldsOf(document.value) : undefined;
  return typeof fields?.['ok'] === 'boolean' ? fields : undefined;
}

/** The payload of an envelope, or the document itself. */
export function payloadOf(text: string): unknown {
  const envelope = envelopeIn(text);
  if (envelope !== undefined) return envelope['data'];
  const document = printed(text);
  return document.kind === 'json' ? document.value : undefined;
}

/** The error that an output has: of an envelope, or the same fields as TOON. */
export function errorIn(text: string): Record<string, unknown> | undefined {
  const document = printed(text);
  if (document.kind === 'json') return fieldsOf(fieldsOf(document.value)?.['error']);
  if (document.kind !== 'text') return undefined;
  const fields = text
    .trim()
    .split('\n')
    .map((line) => /^\s*(\w+): (.+)$/.exec(line))
    .filter((found) => found !== null)
    .map(([, key, value]) => [key, value] as const);
  const error = Object.fromEntries(fields);
  return /^"?[A-Z][A-Z0-9_]+"?$/.test(error['code'] ?? '') && 'message' in error ? error : undefined;
}
