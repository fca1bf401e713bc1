import type * as z from 'zod';
import { isFinal, RUN_STATES, type RunState } from '../../../protocol/run.ts';
import { envelope } from '../../../protocol/v1/envelope.ts';
import { RUNNER_EVENTS } from '../../../protocol/v1/runner-events.ts';
import { TOOL_MESSAGES } from '../../../protocol/v1/tool-messages.ts';
import { PROTOCOL_VERSION, type ToolMessageType } from '../../../protocol/v1/wire.ts';
import type { Facts } from './facts.ts';
import { type Section, section } from './section.ts';

/** The fields of every message; the document lists them once. */
const ENVELOPE = Object.keys(envelope.shape);

/** The messages of tools and of the runner with their fields, and the states of a run. */
export function protocolSections({ withExamples }: Facts): Section[] {
  const examples = Object.values(MESSAGE_EXAMPLES).map((message) => JSON.stringify(message));
  return [
    section(`Protocol ${PROTOCOL_VERSION}`, [
      'A run is a stream of events, one JSON object a line. Each has `v`, `type`, `ts`, `run_id` and `seq` (1, 2, 3 … without a gap).',
      'Below, `?` marks an optional field.',
    ]),
    messageSection('From the tool', TOOL_MESSAGES),
    messageSection('From the runner', RUNNER_EVENTS),
    section(
      'States',
      (Object.keys(RUN_STATES) as RunState[]).map((state) =>
        isFinal(state) ? `- ${state}: the run has ended` : `- ${state} → ${RUN_STATES[state].join(' | ')}`,
      ),
      Object.entries(RUN_STATES).map(([state, next]) => ({ state, next })),
    ),
    section('Following', [
      '`acor logs <run> --since <seq>` continues after the last event that you saw; `--follow` waits for more.',
      'The last event of an attempt is `runner_end`.',
    ]),
    ...(withExamples ? [section('Examples', ['```jsonl', ...examples, '```'])] : []),
  ];
}

function messageSection(heading: string, messages: Readonly<Record<string, z.ZodObject>>): Section {
  const items = Object.entries(messages).map(([type, { shape }]) => ({
    type,
    fields: Object.entries(shape)
      .filter(([name]) => !ENVELOPE.includes(name))
      .map(([name, field]) => ({ name, required: (field as z.ZodType)._zod.optin !== 'optional' })),
  }));
  const lines = items.map(
    ({ type, fields }) =>
      `- ${type}: ${fields.map(({ name, required }) => `${name}${required ? '' : '?'}`).join(', ')}`,
  );
  return section(heading, lines, items);
}

/** One message of each type as a tool writes it; the runner adds the other fields. */
export const MESSAGE_EXAMPLES: Readonly<Record<ToolMessageType, Readonly<Record<string, unknown>>>> = {
  start: { type: 'start', step: 'import', args: { input: 'orders.csv' } },
  progress: { type: 'progress', step: 'import', pct: 40, msg: '400 of 1000 rows' },
  heartbeat: { type: 'heartbeat', step: 'import' },
  action_required: {
    type: 'action_required',
    action: 'bad_row',
    action_id: 'a-1',
    msg: 'Row 17 has no date. What now?',
    context: { row: 17 },
    options: [{ id: 'skip' }, { id: 'stop' }],
    blocking: true,
  },
  log: { type: 'log', level: 'info', msg: 'the header has 7 columns' },
  result: { type: 'result', status: 'ok', data: { rows: 999 }, artifacts: [{ path: 'report.json' }] },
  error: {
    type: 'error',
    code: 'E_INPUT_NOT_FOUND',
    msg: 'no orders.csv',
    hint: 'Check the path.',
    retryable: false,
  },
  cancelled: { type: 'cancelled', reason: 'the cancel file is there' },
};
