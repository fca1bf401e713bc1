/** What surrounds an answer. On the wire its next steps are exact commands; `N` is what they are before a surface has rendered them. */
export interface EnvelopeMeta<N = string> {
  /** The operation's dotted name; the program's when no operation was found. */
  tool: string;
  /** In milliseconds. */
  elapsed: number;
  /** How many elements the main array has here. */
  count?: number | undefined;
  /** How many there are in all. */
  total?: number | undefined;
  hasMore?: boolean | undefined;
  /** About how many tokens the text of the answer is. */
  tokens?: number | undefined;
  /** What leads on. */
  next?: readonly N[] | undefined;
}

/** An error as the envelope carries it. */
export interface EnvelopeError {
  code: string;
  message: string;
  hint: string;
  class: string;
  retryable: boolean;
  action: string;
  details?: Readonly<Record<string, unknown>> | undefined;
}

export type SuccessEnvelope<T = unknown, N = string> = { ok: true; data: T; meta: EnvelopeMeta<N> };
export type FailureEnvelope<N = string> = { ok: false; error: EnvelopeError; meta: EnvelopeMeta<N> };
export type Envelope<N = string> = SuccessEnvelope<unknown, N> | FailureEnvelope<N>;

/** The envelope of an answer; its keys and their order never change. */
export function success<T, N>(data: T, meta: EnvelopeMeta<N>): SuccessEnvelope<T | null, N> {
  return { ok: true, data: data ?? null, meta: orderedMeta(meta) };
}

/** The envelope of an error; its keys and their order never change. */
export function failure<N>(error: EnvelopeError, meta: EnvelopeMeta<N>): FailureEnvelope<N> {
  const { code, message, hint, class: errorClass, retryable, action, details } = error;
  const body = { code, message, hint, class: errorClass, retryable, action };
  return { ok: false, error: details === undefined ? body : { ...body, details }, meta: orderedMeta(meta) };
}

// JSON leaves these bare, but a terminal obeys C1 controls, reorders text at bidi marks, and hides what has no width.
const UNSAFE_AT_A_TERMINAL =
  /[\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** One line of compact JSON that no terminal can be steered by. */
export function encodeLine(value: unknown): string {
  return `${escapeForTerminal(JSON.stringify(value))}\n`;
}

/** JSON that means the same and that no terminal can be steered by. */
export function escapeForTerminal(json: string): string {
  return json.replace(UNSAFE_AT_A_TERMINAL, (char) => char.split('').map(escaped).join(''));
}

/** JSON escapes UTF-16 units, of which a character may have two. */
function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function orderedMeta<N>(meta: EnvelopeMeta<N>): EnvelopeMeta<N> {
  const ordered: EnvelopeMeta<N> = { tool: meta.tool, elapsed: meta.elapsed };
  if (meta.count !== undefined) ordered.count = meta.count;
  if (meta.total !== undefined) ordered.total = meta.total;
  if (meta.hasMore !== undefined) ordered.hasMore = meta.hasMore;
  if (meta.tokens !== undefined) ordered.tokens = meta.tokens;
  if (meta.next !== undefined && meta.next.length > 0) ordered.next = meta.next;
  return ordered;
}
