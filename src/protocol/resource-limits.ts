import * as z from 'zod';

const amount = z.number().positive();
const count = z.int().positive();

/** Limits on a tool's resources (contract §5). A MB is 1,000,000 bytes. */
export const resourceLimits = z.strictObject({
  cpu_seconds: amount.optional().describe('Processor time of all its processes together.'),
  memory_mb: amount.optional().describe('Memory of all its processes together.'),
  processes: count.optional().describe('How many processes it may have at the same time.'),
  open_files: count.optional().describe('How many files each process may have open at the same time.'),
  file_mb: amount.optional().describe('Maximum size of each file that it writes.'),
  disk_mb: amount.optional().describe('Maximum size of all files in the folders of its run.'),
  tmp_mb: amount.optional().describe('Size of /tmp in its sandbox, if the sandbox has a separate one.'),
});

export type ResourceLimits = z.output<typeof resourceLimits>;
