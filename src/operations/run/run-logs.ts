import * as z from 'zod';
import { acorOperation } from '../define.ts';
import { runId } from '../shapes.ts';
import { readLogs } from './read-logs.ts';

const input = z.object({
  run: runId.default('last'),
  follow: z
    .boolean()
    .default(false)
    .describe(
      'Continue until the run ends, one event a line. An answer without a stream comes then, or at a question.',
    ),
  since: z.int().min(0).default(0).describe('Only events after this seq.'),
  type: z.array(z.string()).default([]).describe('Only events of this type; may be given several times.'),
  text: z.string().min(1).optional().describe('Only events with this text, in any case.'),
  format: z
    .enum(['json', 'text'])
    .default('json')
    .describe('json: the events. text: one readable line for each.'),
});

const output = z.object({
  run_id: z.string(),
  events: z.array(z.record(z.string(), z.unknown())),
  last_seq: z.int().describe('The seq of the last event that was read: give it as `since` to read on.'),
});

export const runLogs = acorOperation({
  name: 'run.logs',
  summary: 'Read the events of a run, or follow them until it ends.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input,
  output,
  positionals: ['run'],
  list: 'events',
  example: 'acor logs r-0123456789abcdef --type error --type runner_error',
  moreExamples: [
    'acor logs r-0123456789abcdef --follow --since 120',
    'acor logs r-0123456789abcdef --format text',
  ],
  streams:
    'With --follow: protocol events, one JSON object a line; the last line is runner_end. An agent gets one answer then, or at a question.',
  run: readLogs,
});
