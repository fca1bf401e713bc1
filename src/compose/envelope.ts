/**
 * The metadata of an answer. On the wire its next steps are exact commands; `N` is their type before a surface has
 * rendered them.
 */
export interface EnvelopeMeta<N = string> {
  /** The operation's dotted name, or the program's when no operation was found. */
  tool: string;
  /** In milliseconds. */
  elapsed: number;
  /** The number of elements of the main array in this answer. */
  count?: number | undefined;
  /** The total number of elements. */
  total?: number | undefined;
  hasMore?: boolean | undefined;
  /** The estimated number of tokens of the answer's text. */
  tokens?: number | undefined;
  /** Of a dry run: the token of what it would do, for `--plan`. */
  plan?: string | undefined;
  /** What the reader of the data should know: the result is there, but something was not as it should be. */
  warnings?: readonly string[] | undefined;
  /** What leads on. */
  next?: readonly N[] | undefined;
}

/** The error in an envelope. */
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

// JSON does not escape these, but a terminal obeys C1 controls, reorders text at bidi marks, and hides zero-width
// characters.
const UNSAFE_AT_A_TERMINAL =
  /[\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff0-\ufffb\u{e0000}-\u{e0fff}]/gu;

/** Compact JSON on one line without characters that control a terminal. */
export function encodeLine(value: unknown): string {
  return `${escapeForTerminal(JSON.stringify(value))}\n`;
}

/** Equivalent JSON without characters that control a terminal. */
export function escapeForTerminal(json: string): string {
  // Most texts are ASCII: the expression takes 0.2 ms to compile, and `Buffer` as long to load.
  if (new TextEncoder().encode(json).length === json.length && !json.includes('\x7f')) return json;
  return json.replace(UNSAFE_AT_A_TERMINAL, (char) => char.split('').map(escaped).join(''));
}

/** JSON escapes UTF-16 units, and a character may have two. */
function escaped(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function orderedMeta<N>(meta: EnvelopeMeta<N>): EnvelopeMeta<N> {
  const ordered: EnvelopeMeta<N> = { tool: meta.tool, elapsed: meta.elapsed };
  if (meta.count !== undefined) ordered.count = meta.count;
  if (meta.total !== undefined) ordered.total = meta.total;
  if (meta.hasMore !== undefined) ordered.hasMore = meta.hasMore;
  if (meta.tokens !== undefined) ordered.tokens = meta.tokens;
  if (meta.plan !== undefined) ordered.plan = meta.plan;
  if (meta.warnings !== undefined && meta.warnings.length > 0) ordered.warnings = meta.warnings;
  if (meta.next !== undefined && meta.next.length > 0) ordered.next = meta.next;
  return ordered;
}
