import {
  AUDIENCES,
  type Audience,
  LOG_LEVELS,
  PROTOCOL_VERSION,
  RFC3339_UTC,
  RUNNER_TYPES,
  TASK_TYPES,
  TOOL_TYPES,
} from './wire.ts';

type Fields = { readonly [field: string]: unknown };

/** Why a message is invalid: the field, and what it must be. */
export interface MessageProblem {
  field: string;
  expected: string;
}

export type MessageOrigin = 'tool' | 'orchestrator' | 'runner' | 'unknown';

const SHA256 = /^[0-9a-f]{64}$/;
const TRACE_ID = /^[0-9a-f]{32}$/;
const SPAN_ID = /^[0-9a-f]{16}$/;
const ERROR_CODE = /^E_[A-Z0-9_]+$/;

const ORIGINS: ReadonlyMap<string, MessageOrigin> = new Map([
  ...TOOL_TYPES.map((type) => [type, 'tool'] as const),
  ...TASK_TYPES.map((type) => [type, 'orchestrator'] as const),
  ...RUNNER_TYPES.map((type) => [type, 'runner'] as const),
]);

/** Who may write a type. */
export function originOf(type: string): MessageOrigin {
  return ORIGINS.get(type) ?? 'unknown';
}

/**
 * Validates one message from a tool by hand, because the schemas are too slow for every line. Test data compare it with
 * the schemas (`corpus/accept`, `corpus/reject`). Unknown types pass: they are stored and flagged.
 */
export function checkMessage(message: Fields): MessageProblem | undefined {
  return checkEnvelope(message) ?? checkFields(message);
}

function checkEnvelope(m: Fields): MessageProblem | undefined {
  if (m.v !== PROTOCOL_VERSION) return problem('v', `the number ${PROTOCOL_VERSION}`);
  if (!isFilled(m.type)) return problem('type', 'a string');
  if (typeof m.ts !== 'string' || !RFC3339_UTC.test(m.ts)) return problem('ts', 'an RFC 3339 time in UTC');
  if (!isFilled(m.run_id)) return problem('run_id', 'a string');
  if (m.trace_id !== undefined && !matches(m.trace_id, TRACE_ID)) return problem('trace_id', '32 hex digits');
  if (m.span_id !== undefined && !matches(m.span_id, SPAN_ID)) return problem('span_id', '16 hex digits');
  if (m.seq !== undefined && !(Number.isSafeInteger(m.seq) && (m.seq as number) >= 1)) {
    return problem('seq', 'a whole number from 1');
  }
  return undefined;
}

function checkFields(m: Fields): MessageProblem | undefined {
  switch (m.type) {
    case 'start':
      return needString(m, 'step') ?? mayBeObject(m, 'args');
    case 'progress':
      return mayBeString(m, 'step') ?? checkPercent(m) ?? mayBeString(m, 'msg');
    case 'heartbeat':
      return mayBeString(m, 'step');
    case 'action_required':
      return checkAction(m);
    case 'result':
      return needFilled(m, 'status') ?? checkArtifacts(m) ?? mayBeObject(m, 'metrics');
    case 'error':
      return checkError(m);
    case 'cancelled':
      return needString(m, 'reason');
    case 'log':
      return checkLevel(m) ?? needString(m, 'msg') ?? mayBeObject(m, 'record');
    case 'task_submitted':
      return needFilled(m, 'task_id') ?? mayBeObject(m, 'payload');
    case 'task_started':
      return needFilled(m, 'task_id') ?? mayBeFilled(m, 'child_run_id');
    case 'task_done':
      return needFilled(m, 'task_id') ?? needFilled(m, 'status') ?? mayBeFilled(m, 'child_run_id');
    case 'task_progress':
    case 'task_action_required':
    case 'task_error':
      return needFilled(m, 'task_id') ?? mayBeFilled(m, 'child_run_id') ?? needObject(m, 'child_event');
    default:
      return undefined;
  }
}

function checkPercent(m: Fields): MessageProblem | undefined {
  if (m.pct === undefined) return undefined;
  return typeof m.pct === 'number' && m.pct >= 0 && m.pct <= 100
    ? undefined
    : problem('pct', 'a number from 0 to 100');
}

function checkLevel(m: Fields): MessageProblem | undefined {
  return (LOG_LEVELS as readonly unknown[]).includes(m.level)
    ? undefined
    : problem('level', `one of ${LOG_LEVELS.join(', ')}`);
}

function checkError(m: Fields): MessageProblem | undefined {
  if (!matches(m.code, ERROR_CODE)) return problem('code', 'a code like E_SOMETHING');
  return needString(m, 'msg') ?? mayBeString(m, 'hint') ?? mayBeBoolean(m, 'retryable');
}

function checkArtifacts(m: Fields): MessageProblem | undefined {
  if (m.artifacts === undefined) return undefined;
  if (!Array.isArray(m.artifacts)) return problem('artifacts', 'a list');
  for (const [index, item] of m.artifacts.entries()) {
    const at = `artifacts[${index}]`;
    if (!isObject(item)) return problem(at, 'an object');
    if (!isFilled(item.path)) return problem(`${at}.path`, 'a string');
    if (item.sha256 !== undefined && !matches(item.sha256, SHA256))
      return problem(`${at}.sha256`, '64 hex digits');
    if (item.media_type !== undefined && typeof item.media_type !== 'string') {
      return problem(`${at}.media_type`, 'a string');
    }
  }
  return undefined;
}

function checkAction(m: Fields): MessageProblem | undefined {
  return (
    needFilled(m, 'action') ??
    mayBeFilled(m, 'action_id') ??
    mayBeObject(m, 'context') ??
    mayBeString(m, 'msg') ??
    checkOptions(m) ??
    mayBeObject(m, 'schema') ??
    checkTimeout(m) ??
    checkAudience(m) ??
    mayBeBoolean(m, 'blocking')
  );
}

function checkOptions(m: Fields): MessageProblem | undefined {
  if (m.options === undefined) return undefined;
  if (!Array.isArray(m.options)) return problem('options', 'a list');
  for (const [index, option] of m.options.entries()) {
    const at = `options[${index}]`;
    if (!isObject(option)) return problem(at, 'an object');
    if (!isFilled(option.id)) return problem(`${at}.id`, 'a string');
    for (const field of ['label', 'description']) {
      if (option[field] !== undefined && typeof option[field] !== 'string')
        return problem(`${at}.${field}`, 'a string');
    }
  }
  return undefined;
}

function checkTimeout(m: Fields): MessageProblem | undefined {
  if (m.timeout_s === undefined) return undefined;
  const valid = typeof m.timeout_s === 'number' && Number.isFinite(m.timeout_s) && m.timeout_s > 0;
  return valid ? undefined : problem('timeout_s', 'seconds above 0');
}

function checkAudience(m: Fields): MessageProblem | undefined {
  const valid = m.audience === undefined || AUDIENCES.includes(m.audience as Audience);
  return valid ? undefined : problem('audience', 'ai, user, model or client');
}

function needString(m: Fields, field: string): MessageProblem | undefined {
  return typeof m[field] === 'string' ? undefined : problem(field, 'a string');
}

function needFilled(m: Fields, field: string): MessageProblem | undefined {
  return isFilled(m[field]) ? undefined : problem(field, 'a string that is not empty');
}

function needObject(m: Fields, field: string): MessageProblem | undefined {
  return isObject(m[field]) ? undefined : problem(field, 'an object');
}

function mayBeString(m: Fields, field: string): MessageProblem | undefined {
  return m[field] === undefined ? undefined : needString(m, field);
}

function mayBeFilled(m: Fields, field: string): MessageProblem | undefined {
  return m[field] === undefined ? undefined : needFilled(m, field);
}

function mayBeObject(m: Fields, field: string): MessageProblem | undefined {
  return m[field] === undefined ? undefined : needObject(m, field);
}

function mayBeBoolean(m: Fields, field: string): MessageProblem | undefined {
  return m[field] === undefined || typeof m[field] === 'boolean'
    ? undefined
    : problem(field, 'true or false');
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value.length > 0;
}

function matches(value: unknown, pattern: RegExp): boolean {
  return typeof value === 'string' && pattern.test(value);
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function problem(field: string, expected: string): MessageProblem {
  return { field, expected };
}
