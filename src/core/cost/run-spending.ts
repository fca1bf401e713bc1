import type { RunCost } from '../../protocol/run-cost.ts';

/** What a tool reports in `metrics`. A tool may write anything into it. */
export type Metrics = Readonly<Record<string, unknown>>;

/** What tokens cost. Most runs report none, and load no prices. */
export interface Prices {
  costOf(metrics: Metrics | null): RunCost | null;
  add(one: RunCost | null, other: RunCost | null): RunCost | null;
}

/** The most that a run may cost, and the setting that says so. */
export interface CostLimit {
  usd: number;
  by: string;
}

/** A run that has reached its limit. */
export interface OverBudget {
  kind: 'over-budget';
  usd: number;
  limit: CostLimit;
}

/** A warning for the log of the run. */
export type SpendingWarning = (msg: string, extra: Record<string, unknown>) => void;

const NOTHING: Metrics = {};

/**
 * What a run spends, over all its attempts and turns. A tool reports the totals of its process in `metrics`; each process is settled when
 * it has ended. Prices are only loaded for a run that has a limit or reports tokens.
 */
export class RunSpending {
  readonly #loadPricer: () => Promise<Prices>;
  readonly #warnAt: number;
  readonly #warn: SpendingWarning;
  #pricer: Prices | undefined;
  #limit: CostLimit | null;
  /** What ended processes, and earlier supervisors of the run, have cost. */
  #settled: RunCost | null;
  #processes: (Metrics | null)[] = [];
  #current: Metrics | null = null;
  #since: Metrics = NOTHING;
  #hasWarned = false;
  #hasWarnedOfPrice = false;

  constructor(options: {
    limit: CostLimit | null;
    /** The share of the limit at which the run warns. */
    warnAt: number;
    before: RunCost | null;
    loadPricer: () => Promise<Prices>;
    warn: SpendingWarning;
  }) {
    this.#limit = options.limit;
    this.#warnAt = options.warnAt;
    this.#settled = options.before;
    this.#loadPricer = options.loadPricer;
    this.#warn = options.warn;
  }

  get limit(): CostLimit | null {
    return this.#limit;
  }

  /** What is left of the limit; null without one. */
  get leftUsd(): number | null {
    return this.#limit === null ? null : Math.max(0, rounded(this.#limit.usd - (this.#total()?.usd ?? 0)));
  }

  /** Loads the prices when there is a limit to hold, so that `report` can compare at once. */
  async prepare(): Promise<void> {
    if (this.#limit !== null) this.#pricer ??= await this.#loadPricer();
  }

  /** The next process reports totals of a conversation that had these before. */
  continuesFrom(totals: Metrics): void {
    this.#since = totals;
  }

  /** The present totals of the process. Returns the excess when the limit is reached. */
  report(metrics: Metrics): OverBudget | undefined {
    this.#current = metricsSince(metrics, this.#since);
    return this.over();
  }

  /** The process has ended, or could not start. Returns what it reported. */
  settle({ hasRun }: { hasRun: boolean }): Metrics | null {
    const metrics = this.#current;
    if (hasRun || metrics !== null) this.#processes.push(metrics);
    this.#current = null;
    this.#since = NOTHING;
    return metrics;
  }

  /** Whether the limit is reached. Warns before it is, and when a price is unknown. */
  over(): OverBudget | undefined {
    const limit = this.#limit;
    if (limit === null || this.#pricer === undefined) return undefined;
    const cost = this.#total();
    this.#warnOfUnknownPrice(cost, limit);
    const usd = cost?.usd ?? 0;
    if (usd >= limit.usd) return { kind: 'over-budget', usd, limit };
    if (usd >= limit.usd * this.#warnAt && !this.#hasWarned) {
      this.#hasWarned = true;
      this.#warn(`the run has cost ${usd} of ${limit.usd} USD (${limit.by})`, { usd, limit_usd: limit.usd });
    }
    return undefined;
  }

  /** The user allowed as much again. */
  raise(): void {
    if (this.#limit === null) return;
    const { usd, by } = this.#limit;
    this.#limit = { usd: rounded((this.#total()?.usd ?? 0) + usd), by };
    this.#hasWarned = false;
  }

  /** The cost of the whole run. */
  async cost(mayHaveCost: boolean): Promise<RunCost | null> {
    const hasReported = this.#processes.some((metrics) => metrics !== null);
    if (hasReported || mayHaveCost) this.#pricer ??= await this.#loadPricer();
    return this.#total();
  }

  #total(): RunCost | null {
    const pricer = this.#pricer;
    if (pricer === undefined) return this.#settled;
    for (const metrics of this.#processes.splice(0))
      this.#settled = pricer.add(this.#settled, pricer.costOf(metrics));
    return this.#current === null ? this.#settled : pricer.add(this.#settled, pricer.costOf(this.#current));
  }

  #warnOfUnknownPrice(cost: RunCost | null, { by }: CostLimit): void {
    if (this.#hasWarnedOfPrice || cost?.unpriced === undefined) return;
    this.#hasWarnedOfPrice = true;
    const of = cost.model === undefined ? 'a model that the tool does not name' : `the model '${cost.model}'`;
    this.#warn(
      `the price of ${cost.unpriced.join(' and ')} tokens of ${of} is unknown, so ${by} cannot count them`,
      { unpriced: cost.unpriced },
    );
  }
}

/** Metrics that are totals of a conversation, without what the conversation had before. */
function metricsSince(metrics: Metrics, before: Metrics): Metrics {
  const without = Object.entries(metrics).map(([name, value]) => {
    const earlier = before[name];
    const isCount = typeof value === 'number' && typeof earlier === 'number' && earlier <= value;
    return [name, isCount ? value - earlier : value];
  });
  return Object.fromEntries(without);
}

/** Sums of dollars, without the noise of binary fractions. */
export function rounded(usd: number): number {
  return Number(usd.toFixed(6));
}
