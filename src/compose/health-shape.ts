import * as z from 'zod';
import { AppError } from './app-error.ts';
import type { Answer } from './operation.ts';

/** The result of one check. */
export const checkStatus = z.enum(['ok', 'degraded', 'blocked']);

/** One check, with the command or edit that fixes a failure. */
export const healthCheck = z.object({
  name: z.string().describe('The name of the check.'),
  status: checkStatus.describe('The result of the check.'),
  detail: z.string().describe('What the check found.'),
  fix: z.string().optional().describe('The exact command or edit that fixes it.'),
});

/** The output of a `health` command (seed 004). */
export const healthReport = z.object({
  status: z.enum(['ready', 'degraded', 'blocked']).describe('Whether the application can work.'),
  checks: z.array(healthCheck).describe('The name of the check.'),
});

export type HealthCheck = z.output<typeof healthCheck>;
export type HealthReport = z.output<typeof healthReport>;

/** The worst result decides. */
export function overall(checks: readonly Pick<HealthCheck, 'status'>[]): HealthReport['status'] {
  if (checks.some((check) => check.status === 'blocked')) return 'blocked';
  return checks.some((check) => check.status === 'degraded') ? 'degraded' : 'ready';
}

/** The answer of a command that checks: a failure where one of them is blocked. */
export function reportAnswer(checks: HealthCheck[]): Answer<HealthReport> {
  const report = { status: overall(checks), checks };
  const [first, ...others] = checks.filter(({ status }) => status === 'blocked');
  if (first === undefined) return { kind: 'data', data: report };
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  const message = `${first.name} is blocked: ${first.detail}${more}`;
  return { kind: 'failure', error: new AppError('E_NOT_READY', message, { hint: first.fix }), data: report };
}
