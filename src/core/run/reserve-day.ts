import { join } from 'node:path';
import { AcorError } from '../../protocol/acor-error.ts';
import { SEE_BUDGET } from '../../protocol/next-steps.ts';
import { withFileLock } from '../../util/file-lock.ts';
import { rounded } from '../cost/run-spending.ts';
import type { CostCount } from '../ports/run-index.ts';
import type { RunPlan } from './plan/run-plan.ts';
import type { RunnerServices } from './services.ts';

const BY = 'budget.max_day_cost_usd';

/**
 * Creates a run with a part of the day's budget: its own limit, or all that is left when it has none. Live runs keep their parts until they
 * have ended; then only what they have cost counts. Throws E_BUDGET when nothing is left.
 */
export async function reserveDay<T>(
  services: RunnerServices,
  plan: RunPlan,
  create: (plan: RunPlan) => Promise<T>,
): Promise<T> {
  const dayUsd = services.config.config.budget.max_day_cost_usd;
  const index = await services.index?.();
  if (dayUsd === undefined || index === undefined) return create(plan);
  return withFileLock(join(services.workspaces.root, 'budget.lock'), async () => {
    const spentUsd = await spentToday(services.store, index);
    const live = await reservedBy(services, index);
    const reservedUsd = live.reduce((sum, { usd }) => sum + usd, 0);
    const leftUsd = rounded(dayUsd - spentUsd - reservedUsd);
    if (leftUsd <= 0) throw usedUp({ dayUsd, spentUsd, live });
    const own = plan.cost.limit;
    const usd = Math.min(own?.usd ?? leftUsd, leftUsd);
    const limit = own !== null && own.usd <= leftUsd ? own : { usd, by: BY };
    const lowered =
      own !== null && own.usd > leftUsd
        ? [{ what: 'cost_usd' as const, asked: own.usd, allowed: leftUsd, by: BY }]
        : [];
    return create({
      ...plan,
      lowered: [...plan.lowered, ...lowered],
      cost: { ...plan.cost, limit, dayUsd: usd },
    });
  });
}

/** Whether a run of the tool has cost money today: a later one may, too, whatever the manifest says. */
export async function hasCostToday({ store, index }: RunnerServices, tool: string): Promise<boolean> {
  const costs = index === undefined ? [] : await costsToday(store, await index());
  return costs.some((each) => each.tool === tool && (each.cost_usd ?? 0) > 0);
}

type Index = Awaited<ReturnType<NonNullable<RunnerServices['index']>>>;

async function spentToday(store: RunnerServices['store'], index: Index): Promise<number> {
  return rounded(usdOf(await costsToday(store, index)));
}

async function costsToday(store: RunnerServices['store'], index: Index): Promise<CostCount[]> {
  const day = new Date().toISOString().slice(0, 10);
  return [...(await index.costs({ day })), ...(await store.removedCosts(day))];
}

function usdOf(costs: readonly CostCount[]): number {
  return costs.reduce((sum, { cost_usd }) => sum + (cost_usd ?? 0), 0);
}

/** The parts of live runs, less what their ended children have cost, which counts by itself. */
async function reservedBy(
  { store }: RunnerServices,
  index: Index,
): Promise<{ run_id: string; usd: number }[]> {
  const leases = await store.leases.list();
  const runs = await Promise.all(leases.map(({ runId }) => store.read(runId).catch(() => undefined)));
  const reserved = runs.flatMap((run) =>
    run?.cost_limit_usd == null || run.ended_at !== null
      ? []
      : [{ run_id: run.run_id, usd: run.cost_limit_usd }],
  );
  return Promise.all(
    reserved.map(async ({ run_id, usd }) => {
      const spent = usdOf(await index.costs({ parent: run_id }));
      return { run_id, usd: Math.max(0, rounded(usd - spent)) };
    }),
  );
}

function usedUp(of: {
  dayUsd: number;
  spentUsd: number;
  live: { run_id: string; usd: number }[];
}): AcorError {
  const { dayUsd, spentUsd, live } = of;
  const held = live.map(({ run_id, usd }) => `${run_id} may still spend ${usd}`).join(', ');
  const why = held === '' ? '' : `; ${held}`;
  return new AcorError('E_BUDGET', `the runs of today have cost ${spentUsd} of ${dayUsd} USD (${BY})${why}`, {
    hint:
      held === ''
        ? `Raise ${BY} if more may be spent today.`
        : `Wait for the live runs, or raise ${BY}. A limit for each run (budget.max_cost_usd) lets several run at once.`,
    details: { spent_usd: spentUsd, limit_usd: dayUsd, live },
    next: [SEE_BUDGET],
  });
}
