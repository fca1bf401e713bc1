import type { ToolMessageType } from '../../../protocol/v1/wire.ts';

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
