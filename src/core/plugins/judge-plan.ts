import { AcorError } from '../../protocol/acor-error.ts';
import { describeTool } from '../../protocol/next-steps.ts';
import { withinBudget } from '../run/plan/limits.ts';
import type { ToolPlan } from '../run/plan/tool-plan.ts';
import type { PluginPlan } from './plugin.ts';
import type { LoadedPlugin } from './plugin-process.ts';

const MAX_REASON_CHARS = 500;

/**
 * Asks the plugins in sequence about a planned run: each plugin sees the limits that the previous ones set. Throws
 * E_POLICY_DENIED.
 */
export async function judgePlan(
  plan: ToolPlan,
  plugins: readonly LoadedPlugin[],
  onTrouble: (plugin: string, why: string) => void,
): Promise<ToolPlan> {
  let judged = plan;
  for (const { name, process } of plugins) {
    let verdict: Verdict;
    try {
      verdict = verdictOf(await process.ask({ ask: 'onPreRun', plan: shown(judged) }));
    } catch (error) {
      onTrouble(name, (error as Error).message);
      continue;
    }
    if (verdict.veto !== undefined) throw refused(judged.tool.name, name, verdict.veto);
    judged = withLimits(judged, name, verdict.limits);
  }
  return judged;
}

interface Verdict {
  veto?: string;
  limits: Partial<Record<'timeout_s' | 'max_output_size' | 'max_attempts', number>>;
}

function verdictOf(returned: unknown): Verdict {
  if (returned === null) return { limits: {} };
  const { veto, limits = {}, ...unknown } = returned as { veto?: unknown; limits?: Verdict['limits'] };
  if (typeof veto === 'string') return { veto: veto.slice(0, MAX_REASON_CHARS), limits: {} };
  const isPositive = (each: unknown) => typeof each === 'number' && Number.isFinite(each) && each > 0;
  const names: readonly string[] = ['timeout_s', 'max_output_size', 'max_attempts'];
  const holds =
    veto === undefined &&
    Object.keys(unknown).length === 0 &&
    typeof limits === 'object' &&
    limits !== null &&
    Object.entries(limits).every(([key, value]) => names.includes(key) && isPositive(value));
  if (holds) return { limits };
  throw new Error(
    "returned neither { veto: 'why' } nor { limits: { timeout_s, max_output_size, max_attempts } } from onPreRun",
  );
}

/** Only lower limits are applied. */
function withLimits(plan: ToolPlan, plugin: string, limits: Verdict['limits']): ToolPlan {
  const { timeout_s, max_output_size, max_attempts } = limits;
  const within = withinBudget(plan.limits, plan.retry, {
    max_timeout_s: timeout_s,
    max_output_size,
    max_attempts: max_attempts === undefined ? undefined : Math.max(1, Math.floor(max_attempts)),
  });
  const by = `the plugin '${plugin}'`;
  return {
    ...plan,
    limits: within.limits,
    retry: within.retry,
    lowered: [...plan.lowered, ...within.lowered.map((each) => ({ ...each, by }))],
  };
}

/** The reason is untrusted text. */
function refused(tool: string, plugin: string, reason: string): AcorError {
  return new AcorError('E_POLICY_DENIED', `the plugin '${plugin}' rejected the run of tool '${tool}'`, {
    hint: `It says: ${JSON.stringify(reason)}. Change the arguments, or ask the plugin's author.`,
    details: { plugin, reason },
    next: [describeTool(tool)],
  });
}

function shown(plan: ToolPlan): PluginPlan {
  const { manifest } = plan.tool;
  const shown: PluginPlan = {
    tool: plan.name,
    version: plan.version,
    level: manifest.permissions.level,
    effects: manifest.effects ?? null,
    args: plan.shownArgs,
    cwd: plan.cwd,
    caller: plan.caller,
    grants: plan.grants.map(({ path, access }) => ({ path, access })),
    hosts: manifest.permissions.network.egress_allow,
    timeout_s: plan.limits.timeoutS,
    max_output_size: plan.limits.maxOutputBytes,
    max_attempts: plan.retry.maxAttempts,
  };
  // A path may contain a secret too.
  return plan.secrets === null ? shown : plan.secrets.redaction.data(shown);
}
