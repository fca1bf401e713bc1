import * as z from 'zod';

/** One row of the table of error codes, as the command `errors` answers it. */
export const errorRow = z.object({
  code: z.string().describe('Stable.'),
  class: z.string().describe('What kind of failure it is: user_error, retryable, infra_error, unknown …'),
  retryable: z.boolean(),
  exit: z.int().describe('1 failed, 2 something must be provided first.'),
  action: z.string().describe('What an agent does.'),
  hint: z.string().describe('The fix.'),
});

/** The data of an `errors` command. */
export const errorsSchema = z.object({ codes: z.array(errorRow) });
