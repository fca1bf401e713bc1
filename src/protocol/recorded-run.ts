import * as z from 'zod';

/** What a program wrote once, and what ACOR must make of it. */
export const recordedRun = z.strictObject({
  args: z.array(z.string()).describe('The arguments of the tool.'),
  stdout: z.string(),
  stderr: z.string(),
  rc: z.int(),
  data: z.unknown().optional().describe("The result's data."),
  code: z.string().optional().describe('The error code of a failure.'),
});

export type RecordedRun = z.output<typeof recordedRun>;
