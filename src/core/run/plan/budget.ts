import type { Config } from '../../../protocol/config-file.ts';
import type { ResourceLimits } from '../../../protocol/resource-limits.ts';
import type { RetryPlan, RunLimits } from './run-plan.ts';

/** What a project lets its runs use at most (config `budget`); null is without a limit. */
export interface Budget {
  /** Runs at work at once. */
  maxRuns: number | null;
}

/** A limit that was asked for, by the manifest or the caller, and what the project allows instead. */
export interface Lowered {
  what: 'timeout_s' | 'max_output_size' | 'retry.max_attempts' | `resources.${keyof ResourceLimits}`;
  asked: number;
  allowed: number;
  /** Left out, the project's budget. */
  by?: string;
}

/** Holds limits to the project's ceilings, which neither a manifest nor a caller can raise, and tells which were lowered. */
export function withinBudget(
  limits: RunLimits,
  retry: RetryPlan,
  { max_timeout_s, max_output_size, max_attempts }: Omit<Config['budget'], 'resources'>,
): { limits: RunLimits; retry: RetryPlan; lowered: Lowered[] } {
  const lowered: Lowered[] = [];
  const lower = (what: Lowered['what'], asked: number, allowed: number | undefined): number => {
    if (allowed === undefined || asked <= allowed) return asked;
    lowered.push({ what, asked, allowed });
    return allowed;
  };
  return {
    limits: {
      ...limits,
      timeoutS: lower('timeout_s', limits.timeoutS, max_timeout_s),
      maxOutputBytes: lower('max_output_size', limits.maxOutputBytes, max_output_size),
    },
    retry: { ...retry, maxAttempts: lower('retry.max_attempts', retry.maxAttempts, max_attempts) },
    lowered,
  };
}
