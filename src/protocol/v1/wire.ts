// The names and patterns of the wire format, without the schemas: what a run needs at its start, and all that the hot
// path may load.

/** The wire version that this folder describes (contract §1). */
export const PROTOCOL_VERSION = 1;

/** RFC 3339 in UTC, up to nanoseconds. Every matching time is valid for `Date`, so there are no leap seconds. */
export const RFC3339_UTC =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|\+00:00)$/;

/** An `action_id`: a file name without a folder, because the answer is a file with this name (contract §4). */
export const ACTION_ID = /^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$/;

/** The types that any tool may write on stdout. */
export const TOOL_TYPES = [
  'start',
  'progress',
  'heartbeat',
  'action_required',
  'result',
  'error',
  'cancelled',
  'log',
] as const;

/** The types that only a tool with `role: orchestrator` may write. */
export const TASK_TYPES = [
  'task_submitted',
  'task_started',
  'task_done',
  'task_progress',
  'task_action_required',
  'task_error',
] as const;

/** The types that only the runner writes. */
export const RUNNER_TYPES = [
  'runner_start',
  'runner_state',
  'runner_log',
  'runner_warning',
  'runner_error',
  'runner_end',
  'diagnostic',
  'action_answered',
  'artifact',
] as const;

export type ToolMessageType = (typeof TOOL_TYPES)[number];
export type TaskMessageType = (typeof TASK_TYPES)[number];
export type RunnerEventType = (typeof RUNNER_TYPES)[number];

/** The possible sources of an answer (contract §4). */
export const ANSWER_SOURCES = [
  'command',
  'beforehand',
  'policy',
  'dialog',
  'library',
  'mcp',
  'http',
  'default',
] as const;

export type AnswerSource = (typeof ANSWER_SOURCES)[number];

/**
 * Who a tool wants to answer: the agent that supervises the run, a person, any language model, or the program through
 * which the agent calls (`action: roots`). Where nothing answers for the last two, the agent does.
 */
export const AUDIENCES = ['ai', 'user', 'model', 'client'] as const;

export type Audience = (typeof AUDIENCES)[number];

/** The audience of a question; the default for any other value. */
export function audienceOf(value: unknown): Audience {
  return AUDIENCES.find((each) => each === value) ?? 'ai';
}

export const LOG_LEVELS = ['debug', 'info', 'warn', 'warning', 'error', 'critical'] as const;

/** A stored event: with its envelope; `seq` counts 1, 2, 3 … without a gap within its run. */
export type StoredEvent = {
  v: number;
  type: string;
  ts: string;
  run_id: string;
  seq: number;
  trace_id?: string;
  span_id?: string;
  [field: string]: unknown;
};

/**
 * The tokens of model calls, counted alike for every service (contract §15): `input_tokens` is all input, of which
 * `cache_read_tokens` were read from a cache and `cache_write_tokens` written to one; `output_tokens` is all output, of which
 * `reasoning_tokens` were reasoning.
 */
export const TOKEN_FIELDS = [
  'input_tokens',
  'cache_read_tokens',
  'cache_write_tokens',
  'output_tokens',
  'reasoning_tokens',
] as const;

export type TokenField = (typeof TOKEN_FIELDS)[number];

/** What ACOR counts of the `metrics` of a tool. */
export const COUNTED_METRICS: readonly string[] = ['cost_usd', ...TOKEN_FIELDS];

/** Whether a value can be counted. */
export function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
