import * as z from 'zod';
import { PRICE_PACKAGE } from '../../core/cost/price-table.ts';
import { rounded } from '../../core/cost/run-spending.ts';
import type { CostCount } from '../../core/ports/run-index.ts';
import { acorOperation } from '../define.ts';
import { warningsOf } from './missing-words.ts';

const GROUPS = ['tool', 'task', 'caller', 'day'] as const;

const cost = z.object({
  of: z
    .string()
    .nullable()
    .describe('The tool, task, caller or day; null for runs without a task or caller.'),
  runs: z.int().describe('The runs that cost money or used tokens.'),
  usd: z.number().nullable().describe('Null when no price is known.'),
  unpriced_runs: z.int().describe('The runs with tokens whose price is unknown: `usd` lacks these tokens.'),
  input_tokens: z.number(),
  cache_read_tokens: z.number().describe('Of the input tokens, those read from a cache.'),
  output_tokens: z.number(),
});

type Cost = z.output<typeof cost>;

export const runCost = acorOperation({
  name: 'run.cost',
  summary: 'Show what the runs of this project have cost: money and tokens.',
  effect: 'reads',
  idempotent: true,
  rateLimit: null,
  input: z.object({
    by: z.enum(GROUPS).default('tool').describe('How the runs are grouped; days are UTC.'),
  }),
  output: z.object({
    costs: z.array(cost),
    usd: z.number().nullable().describe('The sum; null when no price is known.'),
    today_usd: z.number().describe('What the runs that ended today (UTC) have cost.'),
    day_limit_usd: z.number().nullable().describe('budget.max_day_cost_usd.'),
  }),
  list: 'costs',
  example: 'acor cost --by day',
  async run({ by }, ctx) {
    const { index: openIndex, store, config } = await ctx.app.project();
    const index = await openIndex();
    const [existing, warnings] = await Promise.all([index.costs(), warningsOf(index, store)]);
    const counts = [...existing, ...(await store.removedCosts())];
    const today = new Date().toISOString().slice(0, 10);
    const costs = grouped(counts, by);
    if (costs.some(({ unpriced_runs }) => unpriced_runs > 0)) ctx.note(UNPRICED);
    return {
      kind: 'data',
      data: {
        costs,
        usd: sumOf(counts),
        today_usd: sumOf(counts.filter(({ day }) => day === today)) ?? 0,
        day_limit_usd: config.config.budget.max_day_cost_usd ?? null,
      },
      warnings,
    };
  },
});

const UNPRICED = `The price of some tokens is unknown, so they are not in the sums: set prices in the configuration, or install ${PRICE_PACKAGE} beside ACOR.`;

function grouped(counts: readonly CostCount[], by: (typeof GROUPS)[number]): Cost[] {
  const groups = new Map<string | null, CostCount[]>();
  for (const count of counts) groups.set(count[by], [...(groups.get(count[by]) ?? []), count]);
  const costs = [...groups].map(([of, members]) => ({
    of,
    runs: total(members, 'runs'),
    usd: sumOf(members),
    unpriced_runs: total(members, 'unpriced'),
    input_tokens: total(members, 'input_tokens'),
    cache_read_tokens: total(members, 'cache_read_tokens'),
    output_tokens: total(members, 'output_tokens'),
  }));
  // Days in order, all else by what it cost.
  return costs.sort((a, b) =>
    by === 'day' ? String(b.of).localeCompare(String(a.of)) : (b.usd ?? 0) - (a.usd ?? 0),
  );
}

function total(
  counts: readonly CostCount[],
  field: Exclude<keyof CostCount, 'tool' | 'task' | 'caller' | 'day' | 'cost_usd'>,
): number {
  return counts.reduce((sum, count) => sum + count[field], 0);
}

function sumOf(counts: readonly CostCount[]): number | null {
  const known = counts.filter(({ cost_usd }) => cost_usd !== null);
  return known.length === 0 ? null : rounded(known.reduce((sum, { cost_usd }) => sum + cost_usd!, 0));
}
