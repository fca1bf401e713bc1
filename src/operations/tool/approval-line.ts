import * as z from 'zod';

export const approvalLine = z.object({
  tool: z.string(),
  state: z.enum(['valid', 'stale', 'gone', 'revoked']).describe('gone: the tool is not there any more.'),
  digest: z.string(),
  by: z.string(),
  at: z.string(),
  changed: z.array(z.string()).describe('The files that made it stale.'),
});

/** One approval, as `acor approve` shows it. */
export type ApprovalLine = z.output<typeof approvalLine>;
