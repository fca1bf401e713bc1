import type { Config } from '../../../protocol/config-file.ts';
import type { ResourceLimits } from '../../../protocol/resource-limits.ts';
import type { ToolEntry } from '../../registry/registry.ts';
import type { RunRequest } from '../run-request.ts';
import type { PlanServices } from './plan-services.ts';
import { resolveResources } from './resolve-resources.ts';
import type { Lowered, RetryPlan, RunLimits, RunPlan } from './run-plan.ts';

/** What a tool's run may use: its time, its tries, its output, the machine's resources, and its share of the queue. */
export interface PlannedLimits extends Pick<RunPlan, 'limits' | 'retry' | 'lowered' | 'budget' | 'rate'> {
  resources: ResourceLimits;
}

/** The limits of the caller, the manifest and the configuration, held to the project's budget. */
export function planLimits(
  { config: { config } }: PlanServices,
  { manifest }: ToolEntry,
  request: RunRequest,
): PlannedLimits {
  const { budget, environment, security } = config;
  const { resources, lowered } = resolveResources({
    level: manifest.permissions.level,
    manifest: manifest.resources,
    config: security.resource_limits,
    ceilings: budget.resources,
  });
  const within = withinBudget(limitsOf(environment, manifest, request), retryOf(manifest, request), budget);
  return {
    limits: within.limits,
    retry: within.retry,
    lowered: [...within.lowered, ...lowered],
    budget: { maxRuns: budget.max_runs ?? null },
    rate: rateOf(manifest),
    resources,
  };
}

/** Holds limits to ceilings that neither a manifest nor a caller can raise, and lists those that were lowered. */
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

type Manifest = ToolEntry['manifest'];

function limitsOf(defaults: Config['environment'], manifest: Manifest, request: RunRequest): RunLimits {
  return {
    timeoutS: request.timeoutS ?? manifest.timeout_s ?? defaults.timeout_s,
    heartbeatGraceS: manifest.heartbeat_grace_s ?? defaults.heartbeat_grace_s,
    stallS: manifest.stall_s ?? defaults.stall_s ?? null,
    maxOutputBytes: manifest.max_output_size ?? defaults.max_output_size,
    cancelGraceS: defaults.cancel_grace_s,
    waitingStopsDeadline: defaults.waiting_stops_deadline,
  };
}

function retryOf(manifest: Manifest, { retries }: RunRequest): RetryPlan {
  const { max_attempts = 1, backoff_s = 1, max_backoff_s = 30 } = manifest.retry ?? {};
  return {
    maxAttempts: retries === undefined ? max_attempts : retries + 1,
    backoffS: backoff_s,
    maxBackoffS: max_backoff_s,
  };
}

function rateOf({ rate_limit }: Manifest): RunPlan['rate'] {
  return rate_limit === undefined ? null : { calls: rate_limit.calls, perS: rate_limit.per_s };
}
