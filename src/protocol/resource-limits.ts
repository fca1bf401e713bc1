import * as z from 'zod';

const amount = z.number().positive();
const count = z.int().positive();

/** Limits on what a tool may use (contract §5). */
export const resourceLimits = z.strictObject({
  cpu_seconds: amount.optional(),
  memory_mb: amount.optional(),
  processes: count.optional(),
  file_mb: amount.optional(),
  open_files: count.optional(),
});

export type ResourceLimits = z.output<typeof resourceLimits>;
