import * as z from 'zod';

const meta = z.object({
  tool: z.string().describe("The operation's dotted name, or the program's when no operation was found."),
  elapsed: z.number().describe('In milliseconds.'),
  count: z.int().optional().describe('The number of elements of the main list in this answer.'),
  total: z.int().optional().describe('The total number of elements.'),
  hasMore: z.boolean().optional(),
  tokens: z.int().optional().describe('The estimated number of tokens of the text.'),
  plan: z.string().optional().describe('Of a dry run: the token of what it would do.'),
  warnings: z.array(z.string()).optional(),
  next: z.array(z.string()).optional().describe('Commands that lead on.'),
});

const error = z.object({
  code: z.string().describe('Stable; `errors` describes it.'),
  message: z.string(),
  hint: z.string().describe('The exact fix.'),
  class: z.string(),
  retryable: z.boolean(),
  action: z.string().describe('What an agent does.'),
  details: z.record(z.string(), z.unknown()).optional(),
});

/** The one line that a command writes on stdout (seed 004). */
export const envelopeSchema = z.union([
  z.object({ ok: z.literal(true), data: z.unknown(), meta }),
  z.object({ ok: z.literal(false), error, meta }),
]);
