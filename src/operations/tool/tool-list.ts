import * as z from 'zod';
import { acorOperation } from '../define.ts';
import { listTools } from './list-tools.ts';

const toolLine = z.lazy(() =>
  z.object({
    name: z.string(),
    status: z.enum(['ok', 'broken']),
    version: z.string(),
    language: z.string(),
    adapter: z.string(),
    category: z.string().nullable(),
    description: z.string(),
    level: z.enum(['minimal', 'standard', 'privileged']),
    has_manifest: z.boolean(),
    path: z.string(),
    problems: z.array(z.string()),
    notes: z.array(z.string()).optional().describe('Notes of plugins.'),
  }),
);

export const toolList = acorOperation({
  name: 'tool.list',
  summary: 'List the tools of this project.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    filter: z
      .string()
      .optional()
      .describe(
        'Only tools whose name, category or description contains this text; with * or ?, whose name or category matches.',
      ),
    format: z
      .enum(['json', 'table', 'text'])
      .optional()
      .describe('json: the envelope. table, text: for people.'),
  }),
  output: z.object({ tools: z.array(toolLine) }),
  list: 'tools',
  example: 'acor list --filter log',
  run: listTools,
});
