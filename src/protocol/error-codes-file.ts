import * as z from 'zod';
import { ERROR_CLASSES } from './error-codes.ts';

/** The schema of `error_codes.yaml` (contract §7): a project's own codes, in the format of seed 000's table. */
export const errorCodesFile = z.strictObject({
  version: z
    .literal(1, 'must be 1, the only version of the file so far')
    .default(1)
    .describe('The version of the file.'),
  codes: z
    .record(
      z.string().regex(/^E_[A-Z0-9_]+$/, 'must look like E_SOMETHING'),
      z.strictObject({
        class: z.enum(ERROR_CLASSES).describe('Who has to act.'),
        retryable: z.boolean().describe('Whether the same call may go well when it is tried again.'),
        exit: z
          .union([z.literal(1), z.literal(2)], 'must be 1 or 2')
          .default(1)
          .describe("ACOR's exit code."),
        action: z.string().min(1).optional().describe('What an agent does by default.'),
        hint: z.string().min(1).optional().describe('How a person puts it right.'),
      }),
    )
    .default({})
    .describe('By code, such as E_QUOTA.'),
});

export type ErrorCodesFile = z.output<typeof errorCodesFile>;
