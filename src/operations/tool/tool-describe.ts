import * as z from 'zod';
import { acorOperation } from '../define.ts';
import { described } from './describe-tool.ts';

export const toolDescribe = acorOperation({
  name: 'tool.describe',
  summary: 'Describe one tool: its inputs, what it may do, its limits, how to call it.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    tool: z.string().describe('The name of the tool.'),
    manifest: z.boolean().default(false).describe('The whole manifest, with defaults.'),
    permissions: z.boolean().default(false).describe('Only what the tool may do.'),
  }),
  output: z.looseObject({ name: z.string() }),
  positionals: ['tool'],
  example: 'acor describe example_processor',
  moreExamples: ['acor describe example_processor --permissions'],
  run: described,
});
