import * as z from 'zod';

/** How one check went. */
export const checkStatus = z.enum(['ok', 'degraded', 'blocked']);

/** One thing that was looked at, and the command or edit that mends it. */
export const healthCheck = z.object({
  name: z.string().describe('What was looked at.'),
  status: checkStatus.describe('How it is.'),
  detail: z.string().describe('What was found.'),
  fix: z.string().optional().describe('The command or the edit that mends it, as it is to be typed.'),
});

/** What a `health` command answers (seed 004). */
export const healthReport = z.object({
  status: z.enum(['ready', 'degraded', 'blocked']).describe('Whether the application can work.'),
  checks: z.array(healthCheck).describe('What was looked at.'),
});

export type HealthCheck = z.output<typeof healthCheck>;
export type HealthReport = z.output<typeof healthReport>;

/** The worst check decides. */
export function overall(checks: readonly Pick<HealthCheck, 'status'>[]): HealthReport['status'] {
  if (checks.some((check) => check.status === 'blocked')) return 'blocked';
  return checks.some((check) => check.status === 'degraded') ? 'degraded' : 'ready';
}
