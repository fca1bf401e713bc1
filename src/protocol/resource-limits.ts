import * as z from 'zod';

const amount = z.number().positive();
const count = z.int().positive();

/** Limits on a tool's resources (contract §5). A MB is 1,000,000 bytes. */
export const resourceLimits = z.strictObject({
  cpu_seconds: amount.optional().describe('Processor time of all its processes together.'),
  memory_mb: amount.optional().describe('Memory of all its processes together.'),
  processes: count.optional().describe('How many it may have at once.'),
  open_files: count.optional().describe('How many each process may have open at once.'),
  file_mb: amount.optional().describe('Size of any one file that it writes.'),
  disk_mb: amount.optional().describe('All that it keeps in the folders of its run.'),
  tmp_mb: amount.optional().describe('Size of its own /tmp, in a sandbox that has one.'),
});

export type ResourceLimits = z.output<typeof resourceLimits>;
