import * as z from 'zod';
import { type KnownFlags, takeKnownFlags } from '../../compose/known-flags.ts';
import { answers, ci, retries, stream, timeoutOf } from '../shapes.ts';

export const runFlags = {
  timeout: timeoutOf('the whole run'),
  retries,
  stream,
  ci,
  detach: z
    .boolean()
    .default(false)
    .describe('Return the id at once; the run continues under a supervisor process.'),
  answer: z
    .array(z.string())
    .default([])
    .describe('ACTION=VALUE, an answer to a question that the tool may ask; VALUE is JSON, else plain text.'),
  answers,
  idempotency_key: z
    .string()
    .optional()
    .describe(
      'Idempotency key: repeating the call with the same key shows the existing run instead of starting a second one.',
    ),
  plan: z
    .string()
    .optional()
    .describe('The token of a dry run; ACOR rejects it when the plan has changed since.'),
  review: z
    .boolean()
    .default(false)
    .describe('Keep the changes of files and folders in a layer; `apply` puts them in place.'),
  snapshot: z
    .boolean()
    .default(false)
    .describe('Copy the files and folders that it may change first; `undo` restores them.'),
  dry_run: z.boolean().default(false).describe('Show what would run, and start nothing.'),
  exit_code: z
    .enum(['acor', 'tool'])
    .default('acor')
    .describe("Which exit code to end with: ACOR's, or the tool's own (124 deadline, 130 cancelled)."),
};

const input = z.object(runFlags);

/** The flags of `acor run` and `acor exec`. */
export type RunFlags = z.output<typeof input>;

/** Takes the flags of ACOR out of the arguments of a tool; `isReserved` is true for those that are the tool's. */
export function takeRunFlags(
  args: readonly string[],
  isReserved: (flag: string) => boolean,
): KnownFlags<typeof input> {
  return takeKnownFlags({ input, example: RUN_EXAMPLE }, args, isReserved);
}

export const RUN_EXAMPLE = 'acor run example_processor --input orders.json --output report.json';
