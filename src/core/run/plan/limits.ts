import type { Config } from '../../../protocol/config-file.ts';
import type { PermissionLevel } from '../../../protocol/manifest-permissions.ts';
import type { ResourceLimits } from '../../../protocol/resource-limits.ts';
import type { ToolEntry } from '../../registry/registry.ts';
import type { RunRequest } from '../run-request.ts';
import type { PlanServices } from './check-tool.ts';
import { costOfTool } from './cost.ts';
import type { Lowered, RetryPlan, RunLimits, RunPlan } from './run-plan.ts';

/** The default resource limits of each level (contract §9). A resource that is not listed has no limit. */
export const LEVEL_LIMITS: Readonly<Record<PermissionLevel, Readonly<ResourceLimits>>> = {
  minimal: {
    cpu_seconds: 60,
    memory_mb: 512,
    processes: 64,
    open_files: 256,
    disk_mb: 200,
    tmp_mb: 64,
  },
  standard: { processes: 512, open_files: 4096, tmp_mb: 64 },
  privileged: { processes: 4096, open_files: 4096 },
};

/** The limits of a tool's run: time, attempts, output, resources of the machine, and its share of the queue. */
export interface PlannedLimits
  extends Pick<RunPlan, 'limits' | 'retry' | 'lowered' | 'budget' | 'cost' | 'rate'> {
  resources: ResourceLimits;
}

/** Combines the limits of the caller, the manifest and the configuration, and lowers them to the project's budget. */
export function planLimits(
  { config: { config } }: PlanServices,
  tool: ToolEntry,
  request: RunRequest,
): PlannedLimits {
  const { manifest } = tool;
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
    cost: costOfTool(config, tool, request),
    rate: rateOf(manifest),
    resources,
  };
}

/** Lowers limits to the ceilings of the budget, which neither a manifest nor a caller can raise, and lists the lowered ones. */
export function withinBudget(
  limits: RunLimits,
  retry: RetryPlan,
  {
    max_timeout_s,
    max_output_size,
    max_attempts,
  }: Pick<Config['budget'], 'max_timeout_s' | 'max_output_size' | 'max_attempts'>,
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

/**
 * The resource limits of a run: the manifest's, else the configuration's, else those of the tool's level, none above its ceiling. A
 * resource without a limit gets its ceiling.
 */
export function resolveResources(wanted: {
  level: PermissionLevel;
  manifest: Readonly<ResourceLimits>;
  config: Readonly<ResourceLimits>;
  ceilings: Readonly<ResourceLimits>;
}): { resources: ResourceLimits; lowered: Lowered[] } {
  const { level, manifest, config, ceilings } = wanted;
  const resources: ResourceLimits = { ...LEVEL_LIMITS[level], ...stated(config), ...stated(manifest) };
  const lowered: Lowered[] = [];
  for (const [what, allowed] of Object.entries(stated(ceilings)) as [keyof ResourceLimits, number][]) {
    const asked = resources[what];
    if (asked !== undefined && asked <= allowed) continue;
    resources[what] = allowed;
    if (manifest[what] !== undefined) {
      lowered.push({ what: `resources.${what}`, asked: manifest[what], allowed });
    }
  }
  return { resources, lowered };
}

/** Drops undefined values, so that they do not hide the value of a lower layer. */
function stated(limits: Readonly<ResourceLimits>): ResourceLimits {
  const set: ResourceLimits = {};
  for (const what of Object.keys(limits) as (keyof ResourceLimits)[])
    if (limits[what] !== undefined) set[what] = limits[what];
  return set;
}
