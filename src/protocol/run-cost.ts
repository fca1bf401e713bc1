import * as z from 'zod';

const tokens = z.number().nonnegative().optional();

/** What a run cost by itself. Child runs have their own cost, so that a sum over all runs counts everything once. */
export const runCost = z.looseObject({
  usd: z
    .number()
    .nullable()
    .describe('US dollars; a lower bound when `unpriced` names something. Null when no price is known.'),
  source: z
    .enum(['reported', 'configured', 'priced', 'manifest', 'mixed'])
    .nullable()
    .describe(
      'The tool reported it, or the tokens were priced by the configuration or by the price table; or the manifest states it.',
    ),
  priced_by: z
    .string()
    .optional()
    .describe('The key of the configuration, or the version of the price table.'),
  unpriced: z.array(z.string()).optional().describe('The kinds of tokens whose price is unknown.'),
  model: z.string().optional(),
  input_tokens: tokens,
  cache_read_tokens: tokens,
  cache_write_tokens: tokens,
  output_tokens: tokens,
  reasoning_tokens: tokens,
  children_usd: z.number().optional().describe('What the child runs cost, which they record themselves.'),
});

export type RunCost = z.output<typeof runCost>;
