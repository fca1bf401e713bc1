// Written by scripts/write-plain-forms.ts.
import type { PlainForm, PlainParameter } from '../compose/plain-command.ts';

/** What most parameters have. */
const MOST = {
  kind: 'string',
  isArray: false,
  isRequired: false,
  isPositional: false,
  enum: undefined,
  default: undefined,
  unit: undefined,
  env: undefined,
  config: undefined,
  short: undefined,
  replacement: undefined,
  isSecret: false,
  isPlain: true,
} satisfies Partial<PlainParameter>;

/** The operations that have a plain command, without their schemas. Each form is made when it is asked for: a call needs one. */
export const PLAIN_FORMS = {
  get 'tool.describe'(): PlainForm {
    return {
      name: 'tool.describe',
      effect: 'reads',
      positionals: ['tool'],
      parameters: [
        { ...MOST, key: 'tool', flag: 'tool', isRequired: true, isPositional: true },
        { ...MOST, key: 'manifest', flag: 'manifest', kind: 'boolean', default: false },
        { ...MOST, key: 'permissions', flag: 'permissions', kind: 'boolean', default: false },
      ],
    };
  },
  get 'tool.list'(): PlainForm {
    return {
      name: 'tool.list',
      effect: 'reads',
      list: 'tools',
      parameters: [
        { ...MOST, key: 'filter', flag: 'filter' },
        { ...MOST, key: 'format', flag: 'format', enum: ['json', 'table', 'text'] },
      ],
    };
  },
  get 'run.logs'(): PlainForm {
    return {
      name: 'run.logs',
      effect: 'reads',
      positionals: ['run'],
      list: 'events',
      parameters: [
        { ...MOST, key: 'run', flag: 'run', isPositional: true, default: 'last' },
        { ...MOST, key: 'follow', flag: 'follow', kind: 'boolean', default: false },
        { ...MOST, key: 'since', flag: 'since', kind: 'integer', default: 0, isPlain: false },
        { ...MOST, key: 'type', flag: 'type', isArray: true, default: [] },
        { ...MOST, key: 'text', flag: 'text', isPlain: false },
        { ...MOST, key: 'format', flag: 'format', enum: ['json', 'text'], default: 'json' },
      ],
    };
  },
  get 'run.start'(): PlainForm {
    return {
      name: 'run.start',
      effect: 'writes',
      positionals: ['tool'],
      passthrough: 'args',
      parameters: [
        { ...MOST, key: 'tool', flag: 'tool', isRequired: true, isPositional: true },
        { ...MOST, key: 'args', flag: 'args', isArray: true, isPositional: true, default: [] },
        { ...MOST, key: 'timeout', flag: 'timeout', kind: 'number', unit: 's', isPlain: false },
        { ...MOST, key: 'retries', flag: 'retries', kind: 'integer', isPlain: false },
        { ...MOST, key: 'stream', flag: 'stream', kind: 'boolean' },
        { ...MOST, key: 'ci', flag: 'ci', kind: 'boolean', default: false },
        { ...MOST, key: 'detach', flag: 'detach', kind: 'boolean', default: false },
        { ...MOST, key: 'answer', flag: 'answer', isArray: true, default: [] },
        { ...MOST, key: 'answers', flag: 'answers' },
        { ...MOST, key: 'idempotency_key', flag: 'idempotency-key' },
        { ...MOST, key: 'plan', flag: 'plan' },
        { ...MOST, key: 'review', flag: 'review', kind: 'boolean', default: false },
        { ...MOST, key: 'snapshot', flag: 'snapshot', kind: 'boolean', default: false },
        { ...MOST, key: 'dry_run', flag: 'dry-run', kind: 'boolean', default: false },
        { ...MOST, key: 'exit_code', flag: 'exit-code', enum: ['acor', 'tool'], default: 'acor' },
      ],
    };
  },
  get 'run.exec'(): PlainForm {
    return {
      name: 'run.exec',
      effect: 'writes',
      positionals: ['program'],
      passthrough: 'args',
      parameters: [
        { ...MOST, key: 'program', flag: 'program', isRequired: true, isPositional: true },
        { ...MOST, key: 'args', flag: 'args', isArray: true, isPositional: true, default: [] },
        { ...MOST, key: 'read', flag: 'read', isArray: true, default: [] },
        { ...MOST, key: 'write', flag: 'write', isArray: true, default: [] },
        { ...MOST, key: 'net', flag: 'net', isArray: true, default: [] },
        { ...MOST, key: 'cmd', flag: 'cmd', isArray: true, default: [] },
        { ...MOST, key: 'timeout', flag: 'timeout', kind: 'number', unit: 's', isPlain: false },
        { ...MOST, key: 'retries', flag: 'retries', kind: 'integer', isPlain: false },
        { ...MOST, key: 'stream', flag: 'stream', kind: 'boolean' },
        { ...MOST, key: 'ci', flag: 'ci', kind: 'boolean', default: false },
        { ...MOST, key: 'detach', flag: 'detach', kind: 'boolean', default: false },
        { ...MOST, key: 'answer', flag: 'answer', isArray: true, default: [] },
        { ...MOST, key: 'answers', flag: 'answers' },
        { ...MOST, key: 'idempotency_key', flag: 'idempotency-key' },
        { ...MOST, key: 'plan', flag: 'plan' },
        { ...MOST, key: 'review', flag: 'review', kind: 'boolean', default: false },
        { ...MOST, key: 'snapshot', flag: 'snapshot', kind: 'boolean', default: false },
        { ...MOST, key: 'dry_run', flag: 'dry-run', kind: 'boolean', default: false },
        { ...MOST, key: 'exit_code', flag: 'exit-code', enum: ['acor', 'tool'], default: 'acor' },
      ],
    };
  },
  get 'run.list'(): PlainForm {
    return {
      name: 'run.list',
      effect: 'reads',
      list: 'runs',
      pageSize: 100,
      parameters: [
        { ...MOST, key: 'tool', flag: 'tool' },
        { ...MOST, key: 'state', flag: 'state', enum: ['queued', 'running', 'waiting_ai', 'completed', 'failed', 'cancelled'] },
        { ...MOST, key: 'kind', flag: 'kind', enum: ['tool', 'workflow', 'pipe', 'task'] },
        { ...MOST, key: 'caller', flag: 'caller' },
        { ...MOST, key: 'parent', flag: 'parent' },
        { ...MOST, key: 'top_level', flag: 'top-level', kind: 'boolean', default: false },
        { ...MOST, key: 'before', flag: 'before', isPlain: false },
        { ...MOST, key: 'created_after', flag: 'created-after', isPlain: false },
        { ...MOST, key: 'created_before', flag: 'created-before', isPlain: false },
        { ...MOST, key: 'text', flag: 'text', isPlain: false },
      ],
    };
  },
  get 'run.show'(): PlainForm {
    return {
      name: 'run.show',
      effect: 'reads',
      positionals: ['run'],
      list: 'artifacts',
      parameters: [
        { ...MOST, key: 'run', flag: 'run', isPositional: true, default: 'last' },
      ],
    };
  },
  get 'system.version'(): PlainForm {
    return {
      name: 'system.version',
      effect: 'reads',
      parameters: [
        { ...MOST, key: 'detailed', flag: 'detailed', kind: 'boolean', default: false },
      ],
    };
  },
} satisfies Readonly<Record<string, PlainForm>>;
