import type { OccurrenceName } from '../../operations/run/run-occurrences.ts';

/** The extension that notifies a client of what happens to runs. */
export const EVENTS = 'io.modelcontextprotocol/events';

export type DeliveryMode = 'poll' | 'push' | 'webhook';

const text = { type: 'string' };
const orNull = (type: string) => ({ type: [type, 'null'] });
const about = { run_id: text, tool: text };

/** The arguments of a subscription: which runs. */
const INPUT_SCHEMA = {
  type: 'object',
  properties: {
    run: { ...text, description: 'Only this run.' },
    tool: { ...text, description: 'Only runs of this tool.' },
  },
  additionalProperties: false,
};

const TYPES: Readonly<Record<OccurrenceName, { description: string; payload: Record<string, unknown> }>> = {
  'run.question': {
    description: 'A run asks a question: acor_answer answers it.',
    payload: {
      action_id: text,
      action: text,
      audience: text,
      blocking: { type: 'boolean' },
      msg: text,
      options: { type: 'array' },
      schema: { type: 'object' },
    },
  },
  'run.ended': {
    description: 'A run has completed, failed or was cancelled: acor_wait returns its result.',
    payload: { state: text, code: orNull('string'), message: orNull('string') },
  },
  'run.progress': {
    description: 'A run has made progress; of several reports, the last.',
    payload: { pct: { type: 'number' }, step: text, msg: text },
  },
};

/** The entries of `events/list`. */
export function eventTypes(delivery: readonly DeliveryMode[]): Record<string, unknown>[] {
  return Object.entries(TYPES).map(([name, { description, payload }]) => ({
    name,
    description,
    delivery,
    inputSchema: INPUT_SCHEMA,
    payloadSchema: { type: 'object', properties: { ...about, ...payload }, required: ['run_id', 'tool'] },
  }));
}
