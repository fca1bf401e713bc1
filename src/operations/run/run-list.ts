import * as z from 'zod';
import { isRunId, RUN_KINDS } from '../../protocol/run.ts';
import { acorOperation } from '../define.ts';
import { runLine } from '../shapes.ts';
import { listRuns } from './list-runs.ts';

const time = z
  .string()
  .refine((text) => !Number.isNaN(Date.parse(text)), 'must be a date or a time, such as 2026-01-31T12:00Z');

export const runList = acorOperation({
  name: 'run.list',
  summary: 'List the runs of this project, the newest first.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    tool: z.string().optional().describe('Only runs of this tool.'),
    state: z
      .enum(['queued', 'running', 'waiting_ai', 'completed', 'failed', 'cancelled'])
      .optional()
      .describe('Only runs in this state.'),
    kind: z.enum(RUN_KINDS).optional().describe('Only tools, workflows, pipes or tasks.'),
    caller: z
      .string()
      .optional()
      .describe('Only runs of this caller: token:ci, agent:claude-code, schedule:nightly, or a name alone.'),
    parent: z.string().optional().describe('Only the steps of this run.'),
    top_level: z.boolean().default(false).describe('Only runs that are no step of another run.'),
    before: z
      .string()
      .refine((id) => id === 'last' || isRunId(id), 'must be the id of a run, or last')
      .optional()
      .describe('Only runs older than this one: the last id of a page, to read on.'),
    created_after: time
      .optional()
      .describe('Only runs created at this time or later: 2026-01-31, 2026-01-31T12:00Z.'),
    created_before: time.optional().describe('Only runs created before this time.'),
    text: z
      .string()
      .min(1)
      .optional()
      .describe('Only runs with this text in their id, tool, arguments, error code or message.'),
  }),
  output: z.object({ runs: z.array(runLine) }),
  list: 'runs',
  pageSize: 100,
  example: 'acor runs --limit 10',
  moreExamples: [
    'acor runs --tool data_migrator --state failed',
    'acor runs --text E_TIMEOUT --created-after 2026-01-31',
  ],
  run: listRuns,
});
