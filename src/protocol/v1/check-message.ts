import {
  ACTION_ID,
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
 * Validates one message from a tool by hand, because the schemas are too slow for every line: the first problem. Test data compare it
 * with the schemas (`corpus/accept`, `corpus/reject`). Unknown types pass: they are stored and flagged.
 */
export function checkMessage(message: Fields): MessageProblem | undefined {
  return first(ENVELOPE, message) ?? first(fieldsOf(message), message);
}

/** Every invalid field of a message, with one problem each. */
export function problemsOfMessage(message: Fields): MessageProblem[] {
  return [...ENVELOPE, ...fieldsOf(message)].flatMap((check) => check(message) ?? []);
}

type Check = (m: Fields) => MessageProblem | undefined;

function first(checks: readonly Check[], m: Fields): MessageProblem | undefined {
  for (const check of checks) {
    const found = check(m);
    if (found !== undefined) return found;
  }
  return undefined;
}

const ENVELOPE: readonly Check[] = [
  (m) => (m.v === PROTOCOL_VERSION ? undefined : problem('v', `the number ${PROTOCOL_VERSION}`)),
  (m) => (isFilled(m.type) ? undefined : problem('type', 'a string that is not empty')),
  (m) => (matches(m.ts, RFC3339_UTC) ? undefined : problem('ts', 'an RFC 3339 time in UTC')),
  (m) => (isFilled(m.run_id) ? undefined : problem('run_id', 'a string that is not empty')),
  (m) =>
    m.trace_id === undefined || matches(m.trace_id, TRACE_ID)
      ? undefined
      : problem('trace_id', '32 hex digits'),
  (m) =>
    m.span_id === undefined || matches(m.span_id, SPAN_ID) ? undefined : problem('span_id', '16 hex digits'),
  (m) =>
    m.seq === undefined || (Number.isSafeInteger(m.seq) && (m.seq as number) >= 1)
      ? undefined
      : problem('seq', 'a whole number from 1'),
];

const CHILD_EVENT: readonly Check[] = [
  filled('task_id'),
  optionallyFilled('child_run_id'),
  (m) => (isObject(m.child_event) ? undefined : problem('child_event', 'an object')),
];

const FIELDS: ReadonlyMap<unknown, readonly Check[]> = new Map<string, readonly Check[]>([
  ['start', [string('step'), optionalObject('args')]],
  ['progress', [optionalString('step'), checkPercent, optionalString('msg')]],
  ['heartbeat', [optionalString('step')]],
  [
    'action_required',
    [
      filled('action'),
      optional('action_id', checkActionId),
      optionalObject('context'),
      optionalString('msg'),
      checkOptions,
      optionalObject('schema'),
      checkTimeout,
      checkAudience,
      optionalBoolean('blocking'),
    ],
  ],
  ['result', [filled('status'), checkArtifacts, optionalObject('metrics')]],
  ['error', [checkCode, string('msg'), optionalString('hint'), optionalBoolean('retryable')]],
  ['cancelled', [string('reason')]],
  ['log', [checkLevel, string('msg'), optionalObject('record')]],
  ['task_submitted', [filled('task_id'), optionalObject('payload')]],
  ['task_started', [filled('task_id'), optionallyFilled('child_run_id')]],
  ['task_done', [filled('task_id'), filled('status'), optionallyFilled('child_run_id')]],
  ['task_progress', CHILD_EVENT],
  ['task_action_required', CHILD_EVENT],
  ['task_error', CHILD_EVENT],
]);

const NONE: readonly Check[] = [];

function fieldsOf({ type }: Fields): readonly Check[] {
  return FIELDS.get(type) ?? NONE;
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

function checkCode(m: Fields): MessageProblem | undefined {
  return matches(m.code, ERROR_CODE) ? undefined : problem('code', 'a code like E_SOMETHING');
}

function checkArtifacts(m: Fields): MessageProblem | undefined {
  if (m.artifacts === undefined) return undefined;
  if (!Array.isArray(m.artifacts)) return problem('artifacts', 'a list');
  for (const [index, item] of m.artifacts.entries()) {
    const at = `artifacts[${index}]`;
    if (!isObject(item)) return problem(at, 'an object');
    if (!isFilled(item.path)) return problem(`${at}.path`, 'a string that is not empty');
    if (item.sha256 !== undefined && !matches(item.sha256, SHA256))
      return problem(`${at}.sha256`, '64 hex digits');
    if (item.media_type !== undefined && typeof item.media_type !== 'string') {
      return problem(`${at}.media_type`, 'a string');
    }
  }
  return undefined;
}

function checkActionId(m: Fields): MessageProblem | undefined {
  return matches(m.action_id, ACTION_ID)
    ? undefined
    : problem('action_id', "1 to 128 letters, digits, '_', '-' and '.', without a '.' at the beginning");
}

function checkOptions(m: Fields): MessageProblem | undefined {
  if (m.options === undefined) return undefined;
  if (!Array.isArray(m.options)) return problem('options', 'a list');
  for (const [index, option] of m.options.entries()) {
    const at = `options[${index}]`;
    if (!isObject(option)) return problem(at, 'an object');
    if (!isFilled(option.id)) return problem(`${at}.id`, 'a string that is not empty');
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

function string(field: string): Check {
  return (m) => (typeof m[field] === 'string' ? undefined : problem(field, 'a string'));
}

function filled(field: string): Check {
  return (m) => (isFilled(m[field]) ? undefined : problem(field, 'a string that is not empty'));
}

function optionalString(field: string): Check {
  return optional(field, string(field));
}

function optionallyFilled(field: string): Check {
  return optional(field, filled(field));
}

function optionalObject(field: string): Check {
  return optional(field, (m) => (isObject(m[field]) ? undefined : problem(field, 'an object')));
}

function optionalBoolean(field: string): Check {
  return optional(field, (m) =>
    typeof m[field] === 'boolean' ? undefined : problem(field, 'true or false'),
  );
}

function optional(field: string, check: Check): Check {
  return (m) => (m[field] === undefined ? undefined : check(m));
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
