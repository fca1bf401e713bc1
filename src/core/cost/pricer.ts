import type { Config } from '../../protocol/config-file.ts';
import type { RunKind } from '../../protocol/run.ts';
import type { RunCost } from '../../protocol/run-cost.ts';
import { TOKEN_FIELDS } from '../../protocol/v1/wire.ts';
import { tableRates } from './price-table.ts';
import type { Rates } from './rates.ts';
import { type Metrics, type Prices, rounded } from './run-spending.ts';
import { modelIn, reportedUsd, type TokenUsage, usageIn } from './usage.ts';

const MILLION = 1_000_000;

/** Rates, and where they come from. */
interface FoundRates extends Rates {
  source: 'configured' | 'priced';
  by: string;
}

/**
 * What tokens cost in a project: what the tool reports, else by `task.price` (for tasks), `prices` of the configuration, or the price
 * table. A price that is unknown is reported as unknown: it is never 0, and cached input never costs as much as other input.
 */
export class Pricer implements Prices {
  readonly #config: Pick<Config, 'prices' | 'task'>;
  readonly #isTask: boolean;
  readonly #perRunUsd: number | null;
  readonly #known = new Map<string | undefined, FoundRates | undefined>();

  constructor(
    config: Pick<Config, 'prices' | 'task'>,
    { kind, perRunUsd = null }: { kind: RunKind; perRunUsd?: number | null },
  ) {
    this.#config = config;
    this.#isTask = kind === 'task';
    this.#perRunUsd = perRunUsd;
  }

  /** The cost of what one process reports; null when it reports neither tokens nor a price, and its manifest states none. */
  costOf(metrics: Metrics | null): RunCost | null {
    const usage = metrics === null ? undefined : usageIn(metrics);
    const reported = metrics === null ? undefined : reportedUsd(metrics);
    const model = metrics === null ? undefined : modelIn(metrics);
    const about = { ...(model !== undefined && { model }), ...usage };
    if (reported !== undefined) return { usd: rounded(reported), source: 'reported', ...about };
    if (usage !== undefined) return { ...this.#priced(usage, model), ...about };
    if (this.#perRunUsd === null) return null;
    return { usd: this.#perRunUsd, source: 'manifest', ...about };
  }

  add(one: RunCost | null, other: RunCost | null): RunCost | null {
    return addCosts(one, other);
  }

  /** The rates of a model, or of a task whose model is unknown. */
  ratesOf(model: string | undefined): FoundRates | undefined {
    if (!this.#known.has(model)) this.#known.set(model, this.#findRates(model));
    return this.#known.get(model);
  }

  #findRates(model: string | undefined): FoundRates | undefined {
    const { task, prices } = this.#config;
    if (this.#isTask && task.price !== undefined)
      return { ...task.price, source: 'configured', by: 'task.price' };
    if (model === undefined) return undefined;
    const own = Object.hasOwn(prices, model) ? prices[model] : undefined;
    if (own !== undefined) return { ...own, source: 'configured', by: `prices.${model}` };
    const found = tableRates(model);
    return found === undefined ? undefined : { ...found, source: 'priced' };
  }

  #priced(
    usage: TokenUsage,
    model: string | undefined,
  ): Pick<RunCost, 'usd' | 'source' | 'priced_by' | 'unpriced'> {
    const rates = this.ratesOf(model);
    const parts = [
      ['input', usage.input_tokens - usage.cache_read_tokens - usage.cache_write_tokens],
      ['cache_read', usage.cache_read_tokens],
      ['cache_write', usage.cache_write_tokens],
      ['output', usage.output_tokens],
    ] as const;
    const used = parts.filter(([, count]) => count > 0);
    const unpriced = used.filter(([kind]) => rates?.[kind] === undefined).map(([kind]) => kind);
    const isUnknown = rates === undefined || (used.length > 0 && unpriced.length === used.length);
    const usd = used.reduce((sum, [kind, count]) => sum + (count * (rates?.[kind] ?? 0)) / MILLION, 0);
    return {
      usd: isUnknown ? null : rounded(usd),
      source: isUnknown ? null : rates.source,
      ...(rates !== undefined && { priced_by: rates.by }),
      ...(unpriced.length > 0 && { unpriced }),
    };
  }
}

/** The cost of two parts of a run. */
export function addCosts(one: RunCost | null, other: RunCost | null): RunCost | null {
  if (one === null || other === null) return one ?? other;
  const unpriced = [...new Set([...(one.unpriced ?? []), ...(other.unpriced ?? [])])];
  const usd = one.usd === null ? other.usd : rounded(one.usd + (other.usd ?? 0));
  const counted = TOKEN_FIELDS.filter((field) => (one[field] ?? other[field]) !== undefined);
  const isAlike = one.source === other.source || one.usd === null || other.usd === null;
  const { priced_by, model } = { ...one, ...other };
  return {
    usd,
    source: isAlike ? (one.source ?? other.source) : 'mixed',
    ...(priced_by !== undefined && { priced_by }),
    ...(unpriced.length > 0 && { unpriced }),
    ...(model !== undefined && { model }),
    ...Object.fromEntries(counted.map((field) => [field, (one[field] ?? 0) + (other[field] ?? 0)])),
  };
}
