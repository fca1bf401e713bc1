import type { Config } from '../../../protocol/config-file.ts';
import type { CostLimit } from '../../cost/run-spending.ts';
import type { ToolEntry } from '../../registry/registry.ts';
import type { RunRequest } from '../run-request.ts';
import type { PlannedCost } from './run-plan.ts';

/** Adapters of agents, which call models. */
const AGENTS: readonly string[] = ['claude', 'codex', 'gemini'];

/** What a tool or task may cost. */
export function costOfTool(
  { budget, task }: Config,
  tool: Pick<ToolEntry, 'manifest' | 'adapter'>,
  request: RunRequest,
): PlannedCost {
  const isTask = request.kind === 'task';
  return {
    limit: lowest([
      ...(isTask ? [limitBy('task.max_cost_usd', task.max_cost_usd)] : []),
      limitBy('budget.max_cost_usd', budget.max_cost_usd),
      limitBy('the budget of the workflow', request.maxCostUsd),
    ]),
    warnAt: budget.cost_warn_at,
    perRunUsd: perRunUsd(tool),
    needsDay: budget.max_day_cost_usd !== undefined && request.parent === undefined && mayCost(tool, isTask),
    dayUsd: null,
  };
}

/** What a workflow or pipe may cost, with everything in it. */
export function costOfParent(
  { budget }: Config,
  tools: readonly Pick<ToolEntry, 'manifest' | 'adapter'>[],
  request: RunRequest,
): PlannedCost {
  return {
    limit: lowest([
      limitBy('budget.max_workflow_cost_usd', budget.max_workflow_cost_usd),
      limitBy('the budget of the workflow', request.maxCostUsd),
    ]),
    warnAt: budget.cost_warn_at,
    perRunUsd: null,
    needsDay:
      budget.max_day_cost_usd !== undefined &&
      request.parent === undefined &&
      tools.some((tool) => mayCost(tool)),
    dayUsd: null,
  };
}

/** Whether a tool is known to cost money: an agent, or one whose manifest states what it costs. */
export function mayCost(tool: Pick<ToolEntry, 'manifest' | 'adapter'>, isTask = false): boolean {
  return isTask || AGENTS.includes(tool.adapter) || perRunUsd(tool) !== null;
}

function perRunUsd({ manifest: { cost } }: Pick<ToolEntry, 'manifest'>): number | null {
  return cost === undefined || cost.currency !== 'USD' ? null : cost.per_run;
}

function limitBy(by: string, usd: number | undefined): CostLimit | undefined {
  return usd === undefined ? undefined : { usd, by };
}

function lowest(limits: readonly (CostLimit | undefined)[]): CostLimit | null {
  let low: CostLimit | null = null;
  for (const each of limits) if (each !== undefined && (low === null || each.usd < low.usd)) low = each;
  return low;
}
